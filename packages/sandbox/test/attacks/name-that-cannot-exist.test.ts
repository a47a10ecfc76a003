import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

/** What a command may leave to make every later one refused: names that no file system has are not there. */
describeIsolations('a name that cannot exist', (isolation) => {
  test.each([
    ['longer than a name can be', 'a'.repeat(300)],
    ['in a directory of such a name', `${'a'.repeat(300)}/x`],
    ['deeper than a path can say', 'd/'.repeat(2_000)],
    ['in a circle', '.npmrc'],
  ])('stops no command as the target of a protected link: %s', async (_, target) => {
    const sandbox = await newSandbox({ isolation })
    symlinkSync(target, join(sandbox.rootDir, '.npmrc'))
    const before = await sandbox.run('sh', ['-c', 'echo ran; echo x > new'])
    expect(before).toMatchObject({ status: 'exited', output: 'ran\n', violations: [] })
    const planted = await sandbox.run('ln', ['-sfn', target, '.yarnrc'])
    expect(planted.violations.map(({ subject }) => subject)).toEqual(['.yarnrc'])
    expect(await sandbox.run('echo', ['ran'])).toMatchObject({ status: 'exited', violations: [] })
  })

  test.each(['a'.repeat(300), 'd/'.repeat(2_000), `${'b'.repeat(300)}/../c`])(
    'stops no command as the repository of a .git file',
    async (target) => {
      const sandbox = await newSandbox({ isolation })
      writeFileSync(join(sandbox.rootDir, '.git'), `gitdir: ${target}\n`)
      expect(await sandbox.run('echo', ['ran'])).toMatchObject({
        status: 'exited',
        output: 'ran\n',
        violations: [],
      })
    },
  )
})
