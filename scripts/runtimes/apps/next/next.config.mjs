export default {
  // Packages with native programs keep their files where npm has put them.
  serverExternalPackages: ['@smithers/builtin-tools', '@smithers/log-sqlite'],
  // For a deployment that copies only the files that Next has traced.
  output: 'standalone',
  outputFileTracingIncludes: {
    '/*': ['node_modules/@smithers/sandbox/bin/**', 'node_modules/@vscode/ripgrep*/**'],
  },
}
