import { existsSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import type { ViteUserConfig } from 'vitest/config'

const root = import.meta.dirname
const conditions = ['@smithers/source']

/** All but the site, which has an installation and tests of its own. */
function foldersIn(parent: string): string[] {
  return readdirSync(`${root}/${parent}`)
    .filter((name) => name !== 'docs')
    .map((name) => `${root}/${parent}/${name}`)
}

/** What all tests of a package share, such as a server. */
function sharedSetup(file: string): string[] {
  return existsSync(file) ? [file] : []
}

const config: ViteUserConfig = {
  root,
  // Tests import sibling packages from their TypeScript source, so nothing needs to be built first.
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    coverage: { provider: 'v8', include: ['packages/*/src/**'], reporter: ['text'] },
    // Vitest leaves one core free, which on a machine with two is every second one. Most tests wait for processes.
    maxWorkers: '100%',
    // Generous: a test waits for a fact, never for a time, and a loaded machine is no failure.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [...foldersIn('packages'), ...foldersIn('apps'), `${root}/scripts`].map((folder) => ({
      extends: true as const,
      root: folder,
      test: {
        name: basename(folder),
        include: ['test/**/*.test.{ts,tsx}'],
        setupFiles: [`${root}/scripts/own-state-directory.ts`],
        globalSetup: sharedSetup(`${folder}/test/global-setup.ts`),
        // A type-check run costs seconds a project: only where type tests exist.
        typecheck: {
          enabled: existsSync(`${folder}/test/types.test-d.ts`),
          include: ['test/**/*.test-d.ts'],
          tsconfig: `${root}/tsconfig.json`,
        },
      },
    })),
  },
}

export default config
