import { defineConfig, type ViteUserConfig } from 'vitest/config'

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', '../../scripts/closing-line-reporter.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})

// oxlint-disable-next-line import/no-default-export -- Vitest reads it
export default config
