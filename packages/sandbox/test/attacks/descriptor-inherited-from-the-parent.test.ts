import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeIsolations, newRoot } from '../fixtures/sandboxes.ts'

describeIsolations('a descriptor that the parent inherited', (isolation, backend) => {
  test('does not reach a command, though it reaches a plain child', () => {
    const secret = join(newRoot(), 'secret')
    writeFileSync(secret, 'the secret')
    const descriptor = openSync(secret, 'r')
    try {
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [
          '--conditions=@smithers/source',
          '--disable-warning=ExperimentalWarning',
          join(import.meta.dirname, '../fixtures/programs/pass-descriptor-on.ts'),
          newRoot(),
          JSON.stringify(isolation),
        ],
        {
          encoding: 'utf8',
          stdio: [
            'ignore',
            'pipe',
            'pipe',
            ...Array.from({ length: 27 }, () => 'ignore' as const),
            descriptor,
          ],
        },
      )
      expect(stderr).toBe('')
      // The control comes first and shares the offset of the file: it starts at the beginning. The
      // helper's commands have no such descriptor; elsewhere it leads to /dev/null.
      const isClosed = backend === 'landlock' || backend === 'namespaces'
      const confined = isClosed ? 'nothing\n' : ''
      expect(JSON.parse(stdout)).toEqual({ plain: 'the secret', confined })
    } finally {
      closeSync(descriptor)
    }
  })
})
