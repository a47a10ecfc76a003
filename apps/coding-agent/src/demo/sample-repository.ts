import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'
import { badInput } from '@smithers/cli/src/errors/command-failure.ts'

/** A repository with a bug, and beside it a file that the agent must not read. */
export interface SampleRepository {
  /** Contains everything that the demo creates. */
  readonly folder: string
  /** The repository: the root of the agent. */
  readonly rootDir: string
  readonly logPath: string
  /** The content of the file outside the root; unique, so that leaks can be found. */
  readonly secret: string
}

const sample = fileURLToPath(new URL('../../sample-project/', import.meta.url))

/** Copies the sample project to a temporary folder and commits it there. */
export function createSampleRepository(): SampleRepository {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'smithers-demo-'))
  const rootDir = join(folder, 'dinner-bill')
  cpSync(sample, rootDir, { recursive: true })

  const secret = `supplier-price-${randomUUID()}`
  mkdirSync(join(folder, 'office'))
  writeFileSync(join(folder, 'office', 'price-list.txt'), `${secret}\n`)
  mkdirSync(join(rootDir, 'docs'))
  symlinkSync('../../office/price-list.txt', join(rootDir, 'docs', 'price-list.txt'))

  git(rootDir, 'init', '--quiet', '--initial-branch=main')
  git(rootDir, 'config', 'user.name', 'Demo')
  git(rootDir, 'config', 'user.email', 'demo@example.com')
  git(rootDir, 'add', '--all')
  git(rootDir, 'commit', '--quiet', '--message=Split the bill')
  return { folder, rootDir, logPath: join(folder, 'calls.db'), secret }
}

function git(cwd: string, ...args: string[]): void {
  try {
    execaSync('git', args, {
      cwd,
      stdin: 'ignore',
      // The user's own settings (signing, hooks, templates) and an empty home must make no difference.
      env: { ...gitFreeEnvironment(), GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      extendEnv: false,
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw badInput(
        'The demo needs git. Install it, for example with "apt-get install git".',
        error,
      )
    }
    throw error
  }
}

/** Inside a git hook GIT_DIR and its like would point this at the wrong repository. */
function gitFreeEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')),
  )
}
