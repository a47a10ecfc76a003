import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createBubblewrap } from '../../src/isolation/bubblewrap/backend.ts'
import { declareIf } from '../fixtures/confinement.ts'
import { openDescriptors } from '../fixtures/workspace.ts'
import { newSandbox } from '../fixtures/sandboxes.ts'

const isolation = { require: [], backend: 'bubblewrap' } as const
const probed = await createBubblewrap().probe()

declareIf(!probed.usable, () => {
  // oxlint-disable-next-line vitest/expect-expect -- nothing to run.
  test('a command that prints what bwrap prints', ({ skip }) =>
    skip(probed.notEnforced.map(({ why }) => why).join(' ')))
})

declareIf(probed.usable, () => {
  describe('a command that prints what bwrap prints', () => {
    test.each([
      'bwrap: execvp sh: No such file or directory',
      "bwrap: Can't mkdir /x: No space left on device",
      'bwrap: Creating new namespace failed: Resource temporarily unavailable',
    ])('has been started all the same: %s', async (line) => {
      const sandbox = await newSandbox({ isolation })
      const script = 'touch ran; echo "$0" >&2; exit 1'
      const result = await sandbox.run('sh', ['-c', script, line])
      expect(existsSync(join(sandbox.rootDir, 'ran'))).toBe(true)
      expect(result).toMatchObject({ status: 'exited', exitCode: 1, stderr: `${line}\n` })
      expect(result.error).toBeUndefined()
    })

    test('is told from a program that could not be started', async () => {
      const sandbox = await newSandbox({ isolation })
      const tool = join(sandbox.rootDir, 'tool')
      writeFileSync(tool, '#!/nowhere/interpreter\n')
      chmodSync(tool, 0o755)
      for (let round = 0; round < 2; round += 1) {
        const result = await sandbox.run('./tool')
        expect(result).toMatchObject({
          status: 'spawn-error',
          error: { code: 'TOOL_SPAWN_FAILED', effect: 'none' },
        })
        // The next one gets the same file for its status.
        expect(await sandbox.run('false')).toMatchObject({ status: 'exited', exitCode: 1 })
      }
    })

    test('leaves no descriptor open', async () => {
      const sandbox = await newSandbox({ isolation })
      writeFileSync(join(sandbox.rootDir, 'tool'), '#!/nowhere/interpreter\n', { mode: 0o755 })
      await sandbox.run('true')
      const before = openDescriptors()
      for (let round = 0; round < 60; round += 1) {
        await sandbox.run(round % 2 === 0 ? 'false' : './tool')
      }
      // Pipes that wait for their command come 32 at a time; a descriptor left by each of these would be more.
      expect(openDescriptors()).toBeLessThan(before + 45)
    })
  })
})
