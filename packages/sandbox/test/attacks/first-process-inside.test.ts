import { expect, test } from 'vitest'
import { describeConfined } from '../fixtures/confinement.ts'
import { attackOnProcess } from '../fixtures/attack-on-process.ts'

/** Reads, signals and steers process 1, and prints what worked. */
const program = attackOnProcess(`
for name in ("environ", "mem", "maps", "auxv"): attempt(name, lambda: read(name))
attempt("memory", lambda: libc.process_vm_readv(victim, None, 0, None, 0, 0))
attempt("descriptors", lambda: os.readlink("/proc/%d/fd/0" % victim))
attempt("root", lambda: os.listdir("/proc/%d/root" % victim))
attempt("program", lambda: os.readlink("/proc/%d/exe" % victim))
attempt("ptrace", lambda: libc.ptrace(16, victim, 0, 0) == 0)
attempt("namespaces", lambda: os.readlink("/proc/%d/ns/user" % victim))
attempt("score", lambda: open("/proc/%d/oom_score_adj" % victim, "w").close())
`)

/** It holds what the helper held when it was started: memory with other commands' environments, and its own rights before. */
describeConfined(
  'the first process of the namespaces of a command',
  (confinement) => {
    const attack = (victim: string) => ['/usr/bin/python3', '-c', program, victim] as const

    test('cannot be read or traced by the command', async () => {
      const { stdout, stderr } = await confinement.run(confinement.directory(), attack('1'))
      expect([stdout, stderr]).toEqual(['\n', ''])
    })

    test('is no other target than the processes that the same program can read', async () => {
      // In the middle of becoming another program a process has neither environment nor maps.
      const script = `sleep 600 & until grep -q ^sleep /proc/$!/cmdline; do :; done; exec /usr/bin/python3 -c '${program}' $!`
      const { stdout } = await confinement.run(confinement.directory(), ['sh', '-c', script])
      for (const name of ['environ', 'maps', 'descriptors', 'root', 'program']) {
        expect(stdout.split(/\s/)).toContain(name)
      }
    })

    test('survives the signals of the command, and ends it all when the command ends', async () => {
      const script = 'kill -9 1; kill -TERM 1; kill -STOP 1; (setsid sleep 60 &); echo still here'
      const { stdout, status } = await confinement.run(confinement.directory(), [
        'sh',
        '-c',
        script,
      ])
      expect([stdout, status]).toEqual(['still here\n', 0])
    })
  },
  ['namespaces'],
)
