import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRootAt } from '../../src/files/open-root.ts'
import { findDeniedPaths } from '../../src/path-rules/find-denied-paths.ts'
import { PathProtection } from '../../src/path-rules/protection.ts'
import { newRoot, newSandbox } from '../fixtures/sandboxes.ts'

/** A root, and beside it a directory of another project with the same names. */
function neighbours(): { base: string; root: string; other: string } {
  const base = newRoot()
  const [root, other] = [join(base, 'root'), join(base, 'other')]
  for (const directory of [root, other]) mkdirSync(directory)
  writeFileSync(join(root, '.npmrc'), 'own\n')
  writeFileSync(join(other, '.npmrc'), 'of another project\n')
  writeFileSync(join(other, '.envrc'), 'only of another project\n')
  return { base, root, other }
}

/** What a command does that changes a protected name and then puts another directory in place of the root. */
function exchange({ base, root, other }: ReturnType<typeof neighbours>): { moved: string } {
  const moved = join(base, 'moved')
  writeFileSync(join(root, '.npmrc'), 'of the command\n')
  renameSync(root, moved)
  renameSync(other, root)
  return { moved }
}

describe.runIf(process.platform === 'linux')('a root exchanged while a command runs', () => {
  /** The protection of a root that is exchanged right after the last look at its name. */
  async function protect(holds: boolean): Promise<{ root: string; moved: string }> {
    const directories = neighbours()
    const fd = openSync(directories.root, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      const protection = new PathProtection({
        protect: ['.npmrc', '.envrc'],
        setAsideDirectory: join(directories.base, 'set-aside'),
        isRootCurrent: () => true,
        facts: {
          changesOnlySafeKeys: () => Promise.resolve(false),
          isKnownVersion: () => Promise.resolve(false),
        },
      })
      const run = await protection.begin(openRootAt(directories.root, holds ? fd : undefined))
      const { moved } = exchange(directories)
      await run.end()
      return { root: directories.root, moved }
    } finally {
      closeSync(fd)
    }
  }

  test('is judged and restored where it is, and the other directory is left alone', async () => {
    const { root, moved } = await protect(true)
    expect(readFileSync(join(moved, '.npmrc'), 'utf8')).toBe('own\n')
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toBe('of another project\n')
    expect(existsSync(join(root, '.envrc'))).toBe(true)

    // The control: by its path, files of the other project are overwritten and moved away.
    const byPath = await protect(false)
    expect(readFileSync(join(byPath.moved, '.npmrc'), 'utf8')).toBe('of the command\n')
    expect(readFileSync(join(byPath.root, '.npmrc'), 'utf8')).toBe('own\n')
    expect(existsSync(join(byPath.root, '.envrc'))).toBe(false)
  })

  test('is searched for denied names by its descriptor', async () => {
    const directories = neighbours()
    writeFileSync(join(directories.root, 'own.key'), '')
    writeFileSync(join(directories.other, 'other.key'), '')
    const fd = openSync(directories.root, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      exchange(directories)
      const found = (root: Parameters<typeof findDeniedPaths>[0]) =>
        findDeniedPaths(root, ['*.key'], () => {})
      expect(await found(openRootAt(directories.root, fd))).toEqual(['own.key'])
      // The control.
      expect(await found(openRootAt(directories.root, undefined))).toEqual(['other.key'])
    } finally {
      closeSync(fd)
    }
  })

  test('by the command itself, where nothing stops it, is undone and reported', async () => {
    const { base, root, other } = neighbours()
    const sandbox = await newSandbox({ rootDir: root, isolation: 'none' })
    const script = 'echo of the command > .npmrc; mv "$1/root" "$1/moved"; mv "$2" "$1/root"'
    const { violations } = await sandbox.run('sh', ['-c', script, 'sh', base, other])
    expect(readFileSync(join(base, 'moved/.npmrc'), 'utf8')).toBe('own\n')
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toBe('of another project\n')
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('only of another project\n')
    expect(violations.map(({ subject }) => subject)).toEqual(['.', '.npmrc'])
  })
})
