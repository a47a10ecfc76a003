import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'

/** Leaves something of each kind behind, says so by a file in the root, and lives until it is told to stop. */
const leaving = `
import ctypes, os, pty, socket, time
libc = ctypes.CDLL(None)
open("/tmp/left", "w").write("x")
open("/dev/shm/left", "w").write("x")
shared = libc.shmget(4711, 4096, 0o1666)
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\\0left"); abstract.listen()
tcp = socket.socket(); tcp.bind(("127.0.0.1", 47110)); tcp.listen()
terminal = pty.openpty()
time_out = time.time() + 60
open("ready", "w").close()
while not os.path.exists("stop") and time.time() < time_out: time.sleep(0.01)
`

/** Prints what of it can be found. */
const looking = `
import ctypes, os, socket
libc = ctypes.CDLL(None)
found = []
def attempt(name, action):
    try:
        if action() not in (False, -1): found.append(name)
    except OSError: pass
attempt("/tmp", lambda: os.stat("/tmp/left"))
attempt("/dev/shm", lambda: os.stat("/dev/shm/left"))
attempt("shared memory", lambda: libc.shmget(4711, 4096, 0o666) >= 0)
attempt("abstract socket", lambda: socket.socket(socket.AF_UNIX).connect("\\0left"))
attempt("port", lambda: socket.socket().connect(("127.0.0.1", 47110)))
attempt("terminal", lambda: os.stat("/dev/pts/0"))
print(" ".join(found))
`

describeConfined(
  'what a running command has of its own',
  (confinement) => {
    const python = (script: string) => ['/usr/bin/python3', '-c', script] as const
    const waiting = 'until [ -e ready ]; do sleep 0.01; done'

    test('is not found by another command of the same root', async () => {
      const root = confinement.directory()
      const first = confinement.run(root, python(leaving))
      await confinement.run(root, ['sh', '-c', waiting])
      const second = await confinement.run(root, python(looking))
      writeFileSync(join(root, 'stop'), '')
      expect([second.stdout, second.stderr]).toEqual(['\n', ''])
      expect(await first).toMatchObject({ status: 0, stderr: '' })
      const after = await confinement.run(root, python(looking))
      expect([after.stdout, after.stderr]).toEqual(['\n', ''])
    })

    test('is found by the same program within that command', async () => {
      const root = confinement.directory()
      writeFileSync(join(root, 'leaving.py'), leaving)
      writeFileSync(join(root, 'looking.py'), looking)
      const script = `python3 -c "$(cat leaving.py)" & ${waiting}; python3 looking.py; touch stop; wait`
      const { stdout } = await confinement.run(root, ['sh', '-c', script], {
        env: { PATH: '/usr/bin:/bin' },
      })
      expect(stdout).toBe('/tmp /dev/shm shared memory abstract socket port terminal\n')
    })
  },
  ['namespaces', 'bubblewrap'],
)
