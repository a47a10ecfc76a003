import { execFileSync } from 'node:child_process'
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRootAt } from '../../src/files/open-root.ts'
import { createRootStatCache } from '../../src/path-rules/root-stat-cache.ts'
import { gitTrustedPaths } from '../../src/path-rules/git-trusted-paths.ts'
import { newRoot } from '../fixtures/sandboxes.ts'
import { startSwapper } from '../fixtures/swapper.ts'

const program = join(import.meta.dirname, '../fixtures/programs/find-protected-paths-often.ts')

/** In a process of its own, which is killed if it never comes back: a test cannot stop what holds up its own thread. */
function lookOften(root: string, times: number): { looks: number; bytesRead: number } {
  const printed = execFileSync(process.execPath, [program, root, String(times)], {
    timeout: 120_000,
    killSignal: 'SIGKILL',
    encoding: 'utf8',
  })
  return JSON.parse(printed) as { looks: number; bytesRead: number }
}

describe.runIf(process.platform === 'linux')('a .git file made to cost', () => {
  test('is looked at however many spaces are in it', () => {
    const root = newRoot()
    // Days, to an expression that begins anew at each of them.
    writeFileSync(join(root, '.git'), `gitdir: a${' '.repeat(8_000_000)}x`)
    expect(lookOften(root, 1).looks).toBe(1)
  })

  test('has its beginning read and no more', () => {
    const root = newRoot()
    writeFileSync(join(root, '.git'), 'gitdir: a\n')
    truncateSync(join(root, '.git'), 3 * 1024 ** 3)
    const { looks, bytesRead } = lookOften(root, 2)
    expect(looks).toBe(2)
    expect(bytesRead).toBeLessThan(1024 ** 2)
  })

  test('blocks no command when it is exchanged for a pipe', async () => {
    const root = newRoot()
    writeFileSync(join(root, '.git'), 'gitdir: a\n')
    execFileSync('mkfifo', [join(root, 'pipe')])
    const swapper = await startSwapper([[join(root, '.git'), join(root, 'pipe')]])
    try {
      expect(lookOften(root, 3_000).looks).toBe(3_000)
    } finally {
      await swapper.stop()
    }
  })

  test.each([
    ['as git does', 'gitdir: sub/repository\n', ['sub/repository']],
    ['without what follows the line', 'gitdir: evil\n\n\r\n', ['evil']],
    ['with blanks that belong to the name', 'gitdir: evil \n', ['evil ', 'evil']],
    ['with a newline that belongs to the name', 'gitdir: evil\nx\n', ['evil\nx', 'evil']],
    ['up to a NUL', 'gitdir: evil\0x', ['evil']],
    ['as programs do that are less exact', 'gitdir:  evil  \n', [' evil  ', 'evil']],
  ])('is read %s', (_, text, repositories) => {
    const root = newRoot()
    writeFileSync(join(root, '.git'), text)
    for (const name of repositories) mkdirSync(join(root, name), { recursive: true })
    const { protect } = gitTrustedPaths(createRootStatCache(openRootAt(root, undefined)))
    expect(protect.filter((name) => name.endsWith('/commondir'))).toEqual(
      ['.git', ...repositories].map((name) => `${name}/commondir`),
    )
  })

  test('that names no repository names none', () => {
    const root = newRoot()
    for (const text of ['', 'gitdir:', 'gitdir: \n', 'x\ngitdir: evil\n', 'gitdir: ../evil']) {
      writeFileSync(join(root, '.git'), text)
      const { protect } = gitTrustedPaths(createRootStatCache(openRootAt(root, undefined)))
      expect(
        protect.filter((name) => name.endsWith('commondir')),
        text,
      ).toEqual(['.git/commondir'])
    }
  })
})
