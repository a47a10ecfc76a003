import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

/**
 * A command that is still running swaps a directory with a link to a place outside, as fast as it can, while the next
 * command's mounts are made. A backend that mounts by name mounts that place into the sandbox.
 */
const swapper = `
import ctypes, sys
rename = ctypes.CDLL(None).renameat2
print("swapping", flush=True)
while True: rename(-100, b"sub", -100, b"link", 2)
`

describeConfined('a directory swapped with a link while mounts are made', (confinement) => {
  test('opens nothing outside the root', async () => {
    const project = confinement.directory()
    chmodSync(project, 0o755)
    const [root, outside] = [join(project, 'root'), join(project, 'outside')]
    const { uid, gid } = statSync(project)
    for (const directory of [root, outside, join(root, 'sub')]) {
      mkdirSync(directory)
      chownSync(directory, uid, gid)
    }
    for (const directory of [outside, join(root, 'sub')]) {
      writeFileSync(join(directory, 'settings.json'), directory === outside ? 'secret' : '{}')
      chownSync(join(directory, 'settings.json'), uid, gid)
    }
    symlinkSync('../outside', join(root, 'link'))

    const attacker = spawn('/usr/bin/python3', ['-c', swapper], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      await once(attacker.stdout, 'data')
      const policy = { protect: ['sub/settings.json'], deny: ['sub/denied'] }
      const script =
        'cat sub/settings.json link/settings.json; echo x > sub/written; echo x > link/written; echo done'
      let completed = 0
      // Refusing every time would be no proof: on until one was completed, usually the first.
      for (let round = 0; round < 150 || completed === 0; round += 1) {
        const { stdout } = await confinement.run(root, ['sh', '-c', script], { policy })
        expect(stdout).not.toContain('secret')
        if (stdout.includes('done')) completed += 1
      }
      expect(completed).toBeGreaterThan(0)
      expect(readdirSync(outside)).toEqual(['settings.json'])
    } finally {
      attacker.kill('SIGKILL')
      await once(attacker, 'exit')
    }
    expect(existsSync(join(outside, 'written'))).toBe(false)
  })
})
