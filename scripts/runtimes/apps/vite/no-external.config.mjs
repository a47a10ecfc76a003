// For a bundle of everything but the packages with native programs.
export default {
  ssr: { noExternal: true, external: ['@smithers/builtin-tools', '@smithers/log-sqlite'] },
}
