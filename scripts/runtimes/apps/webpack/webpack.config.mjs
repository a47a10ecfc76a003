export default {
  mode: 'production',
  target: 'node22',
  entry: './main.mjs',
  output: { module: true, filename: 'main.mjs' },
  // Packages with native programs keep their files where npm has put them.
  externals: ['@smithers/builtin-tools', '@smithers/log-sqlite'],
  externalsType: 'module',
  // A server gains nothing from it.
  optimization: { minimize: false },
}
