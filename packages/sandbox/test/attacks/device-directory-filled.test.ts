import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

/** What is written to a file system in memory is memory of the machine, and no process's. */
describeConfined(
  'a command that fills /dev',
  (confinement) => {
    test('is stopped at the size of temporary directories', async () => {
      const root = confinement.directory()
      const policy = { limits: { temporaryMb: 8 } }
      const script =
        'head -c 20000000 /dev/zero > /dev/shm/large; stat -c %s /dev/shm/large; rm /dev/shm/large'
      const { stdout, stderr } = await confinement.run(root, ['sh', '-c', script], { policy })
      expect(Number(stdout)).toBeLessThanOrEqual(8 * 1024 * 1024)
      expect(stderr).toContain('No space left on device')
    })

    test('makes no file beside the devices', async () => {
      const root = confinement.directory()
      const script =
        'for d in /dev /dev/pts /dev/mqueue; do echo x > $d/large; done; ls /dev/large; true'
      const { stdout } = await confinement.run(root, ['sh', '-c', script])
      expect(stdout).toBe('')
    })

    test('is no honest one: devices, shared memory and terminals work', async () => {
      const root = confinement.directory()
      const script =
        'echo x > /dev/null && head -c 4 /dev/urandom | wc -c && echo shared > /dev/shm/x && cat /dev/shm/x && python3 -c "import pty; print(len(pty.openpty()))"'
      const { stdout } = await confinement.run(root, ['sh', '-c', script])
      expect(stdout.split('\n').map((line) => line.trim())).toEqual(['4', 'shared', '2', ''])
    })
  },
  ['namespaces', 'bubblewrap'],
)
