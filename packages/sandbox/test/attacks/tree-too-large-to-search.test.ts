import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRootAt } from '../../src/files/open-root.ts'
import { findDeniedPaths } from '../../src/path-rules/find-denied-paths.ts'
import { describeConfined } from '../fixtures/confinement.ts'
import { newSandbox } from '../fixtures/sandboxes.ts'

const deny = ['**/.env']
const strongest = await newSandbox({ files: { deny } })
const isEnforced = strongest.report.enforced.files === 'enforced'
const nothingHidden = 'no backend that works here hides denied names, so none are searched for'

/** Directories side by side, enough to take many turns of the event loop. */
function fill(root: string): void {
  for (let index = 0; index < 6_000; index += 1) mkdirSync(join(root, `d${index}`))
  writeFileSync(join(root, 'd5/.env'), 'secret')
}

test('a large tree is searched in turns, and hides what is denied', async ({ skip }) => {
  skip(!isEnforced, nothingHidden)
  const { rootDir } = strongest
  fill(rootDir)
  let turns = 0
  const seen: number[] = []
  const counter = setInterval(() => (turns += 1), 0)
  const denied = await findDeniedPaths(openRootAt(rootDir, undefined), deny, () => seen.push(turns))
  clearInterval(counter)
  expect(denied).toEqual(['d5/.env'])
  // Others had their turn in between, not only before and after.
  expect(new Set(seen).size).toBeGreaterThan(1)
  const { stdout } = await strongest.run('sh', ['-c', 'cat d5/.env; echo ran'])
  expect(stdout).toBe('ran\n')
})

test('a search is stopped by its signal and its time', async ({ skip }) => {
  skip(!isEnforced, nothingHidden)
  const controller = new AbortController()
  const aborted = strongest.run('touch', ['started'], { signal: controller.signal })
  controller.abort()
  expect(await aborted).toMatchObject({ status: 'aborted', error: { effect: 'none' } })
  // One millisecond is over before six thousand directories are listed.
  const late = await strongest.run('touch', ['started'], { timeoutMs: 1 })
  expect(late).toMatchObject({ status: 'timeout', error: { code: 'TOOL_TIMEOUT', effect: 'none' } })
  expect(await strongest.files.exists('started')).toBe(false)
})

test('is not searched where nothing would be hidden', async () => {
  const sandbox = await newSandbox({ isolation: 'none', files: { deny: ['*.env'] } })
  // More than can be hidden: a search would refuse the command.
  for (let index = 0; index < 1001; index += 1) {
    writeFileSync(join(sandbox.rootDir, `${index}.env`), '')
  }
  expect(await sandbox.run('echo', ['ran'])).toMatchObject({ status: 'exited', output: 'ran\n' })
})

test('a working directory under a deny rule is refused', async () => {
  const sandbox = await newSandbox({ files: { deny: ['secret'] } })
  mkdirSync(join(sandbox.rootDir, 'secret'))
  expect(await sandbox.run('true', [], { cwd: 'secret' })).toMatchObject({
    status: 'refused',
    error: { code: 'TOOL_PATH_DENIED' },
  })
})

describeConfined(
  'a tree too deep to search',
  (confinement) => {
    test('is hidden from where mounts no longer reach, and stops no command', async () => {
      const rootDir = confinement.directory()
      const dig = `import os
for _ in range(3000):
    os.mkdir("d"); os.chdir("d")
open(".env", "w").write("secret")`
      const dive = `import os
try:
    for _ in range(3000): os.chdir("d")
    print(open(".env").read())
except OSError as error: print(error.strerror)`
      const [dug, dived] = await confinement.commands({ rootDir, files: { deny } }, [
        ['python3', '-c', dig],
        ['python3', '-c', dive],
      ])
      expect(dug?.status).toBe('exited')
      expect(dived).toMatchObject({ status: 'exited', output: 'Permission denied\n' })
    })
  },
  ['namespaces', 'bubblewrap'],
)
