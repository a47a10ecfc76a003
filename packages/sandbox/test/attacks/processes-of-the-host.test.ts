import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Confinement, declareIf, describeConfined } from '../fixtures/confinement.ts'
import { attackOnProcess } from '../fixtures/attack-on-process.ts'

/** Signals, limits, slows, traces and reads the process given, and prints what worked. */
const program = attackOnProcess(`
def word(): return ctypes.c_long(0)
attempt("kill", lambda: os.kill(victim, 0))
attempt("kill group", lambda: os.kill(-os.getpgid(victim), 0))
attempt("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(victim), 0))
attempt("prlimit", lambda: resource.prlimit(victim, resource.RLIMIT_NOFILE, (512, 512)))
attempt("affinity", lambda: os.sched_setaffinity(victim, {0}))
attempt("scheduler", lambda: os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0)))
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, victim, 19))
attempt("ptrace", lambda: libc.ptrace(16, victim, 0, 0) == 0 and libc.ptrace(17, victim, 0, 0) == 0)
for name in ("environ", "mem", "maps", "auxv", "stack", "syscall"): attempt(name, lambda: read(name))
attempt("descriptors", lambda: os.readlink("/proc/%d/fd/0" % victim))
attempt("root", lambda: os.listdir("/proc/%d/root" % victim))
attempt("working directory", lambda: os.listdir("/proc/%d/cwd" % victim))
`)

describeConfined('a process of the host', (confinement) => {
  let stranger: ChildProcess
  beforeAll(async () => {
    stranger = spawnAs(confinement)
    await once(stranger, 'spawn')
  })
  afterAll(() => void stranger.kill('SIGKILL'))

  const attack = (pid: number) => ['/usr/bin/python3', '-c', program, String(pid)] as const

  test('of the same user cannot be signalled, limited, slowed, traced or read', async () => {
    const { stdout, stderr } = await confinement.run(
      confinement.directory(),
      attack(stranger.pid ?? 0),
    )
    expect([stdout, stderr]).toEqual(['\n', ''])
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
  })

  test('is at the mercy of the same program where nothing confines it', async () => {
    const { stdout } = await confinement.runFreely(
      confinement.directory(),
      attack(stranger.pid ?? 0),
    )
    for (const name of ['kill', 'prlimit', 'affinity', 'priority', 'environ', 'descriptors']) {
      expect(stdout.split(/\s/)).toContain(name)
    }
  })

  declareIf(confinement.backend === 'landlock', () => {
    test('that confines the command, or runs it, is no easier to reach', async () => {
      const script = `import os, subprocess, sys
def parent(pid): return int(open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[1])
supervisor = os.getppid()
helper = parent(supervisor)
for pid in (supervisor, helper, parent(helper)):
    print(pid > 1, subprocess.run([sys.executable, "-c", sys.argv[1], str(pid)], capture_output=True, text=True).stdout.strip())`
      const argv = ['/usr/bin/python3', '-c', script, program] as const
      const { stdout, stderr } = await confinement.run(confinement.directory(), argv)
      expect([stdout, stderr]).toEqual(['True \nTrue \nTrue \n', ''])
    })
  })

  declareIf(confinement.backend === 'landlock', () => {
    test('is not slowed by a call that means all processes of the user', async () => {
      const script = `import os
for which, who in ((os.PRIO_USER, 0), (os.PRIO_USER, os.getuid()), (os.PRIO_PGRP, os.getpgid(os.getppid()))):
    try: os.setpriority(which, who, 1); print("slowed")
    except PermissionError: pass`
      const argv = ['/usr/bin/python3', '-c', script] as const
      const { stdout, stderr } = await confinement.run(confinement.directory(), argv)
      expect([stdout, stderr]).toEqual(['', ''])
    })
  })

  test('shares no memory, semaphore or queue with a command', async () => {
    const script = `import ctypes; libc = ctypes.CDLL(None)
print(libc.shmget(0x5317, 4096, 0o1666), libc.semget(0x5317, 1, 0o1666), libc.msgget(0x5317, 0o1666))`
    const argv = ['/usr/bin/python3', '-c', script] as const
    await confinement.run(confinement.directory(), argv)
    // The first column: in others, of objects of other programs, the number may occur in a time or a process.
    const keys = ['shm', 'sem', 'msg'].flatMap((kind) =>
      Array.from(
        readFileSync(`/proc/sysvipc/${kind}`, 'utf8').matchAll(/^ *(-?\d+) /gm),
        ([, key]) => key,
      ),
    )
    expect(keys).not.toContain(String(0x5317))
  })

  test('is not what an honest command steers: its own processes are', async () => {
    const script = `sleep 600 & renice -n 19 -p $! >/dev/null && taskset -p 1 $! >/dev/null && prlimit --pid $! --nofile=64:64 && kill $! && wait $! 2>/dev/null; echo $?`
    const { stdout } = await confinement.run(confinement.directory(), ['sh', '-c', script])
    expect(stdout).toBe('143\n')
  })
})

function spawnAs({ uid, user }: Confinement): ChildProcess {
  const options = user === 'root' ? {} : { uid, gid: uid }
  return spawn('/bin/sleep', ['3600'], { ...options, cwd: '/', detached: true, stdio: 'ignore' })
}
