import { expect, test } from 'vitest'
import { type ConfiningBackend, declareIf, describeConfined } from '../fixtures/confinement.ts'

/**
 * Tries each call and prints, as JSON, the error number of each, 0 for success. It also runs without isolation, as root:
 * every attempt is one that changes nothing when it succeeds (a missing mount point, a child that ends at once).
 */
const program = `
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
def call(number, *args):
    ctypes.set_errno(0)
    return 0 if libc.syscall(number[1 if arm else 0], *args) >= 0 else ctypes.get_errno()
def forked(action):
    # In a child: what succeeds must not change the process that tries the rest.
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, str(action()).encode())
        os._exit(0)
    os.close(write)
    os.wait()
    return int(os.read(read, 10))
CLONE_NEWUSER, CLONE_NEWNET, SIGCHLD = 0x10000000, 0x40000000, 17
def clone(flags):
    ctypes.set_errno(0)
    pid = libc.syscall(220 if arm else 56, ctypes.c_ulong(flags | SIGCHLD), None, None, None, None)
    if pid == 0: os._exit(0)
    if pid < 0: return ctypes.get_errno()
    os.waitpid(pid, 0)
    return 0
def terminal(request):
    import fcntl
    try:
        main, side = os.openpty()
        os.setsid()
        fcntl.ioctl(side, 0x540E, 0)
    except OSError:
        # Where there is no terminal to be had, the request must be refused for any file.
        side = os.open("/dev/null", os.O_RDONLY)
    try: fcntl.ioctl(side, request, b"x")
    except OSError as error: return error.errno
    return 0
def wide_ioctl():
    # The kernel reads the low half of the request: rubbish above it must not get past a filter.
    try: main, side = os.openpty()
    except OSError: side = os.open("/dev/null", os.O_RDONLY)
    return call((16, 29), ctypes.c_int(side), ctypes.c_ulong((1 << 32) | 0x5412), b"x")
print(json.dumps({
    "unshare user namespace": forked(lambda: call((272, 97), CLONE_NEWUSER)),
    "unshare network": forked(lambda: call((272, 97), CLONE_NEWUSER | CLONE_NEWNET)),
    "clone user namespace": forked(lambda: clone(CLONE_NEWUSER)),
    "clone3": call((435, 435), 0, 0),
    "setns": forked(lambda: call((308, 268), os.open("/proc/self/ns/uts", os.O_RDONLY), 0)),
    "ptrace traceme": forked(lambda: call((101, 117), 0, 0, 0, 0)),
    "process_vm_readv": call((310, 270), os.getppid(), 0, 0, 0, 0, 0),
    "keyctl": call((250, 219), 0, -3, 0),
    "add_key": call((248, 217), b"user", b"smithers-test", b"x", 1, -1),
    "io_uring_setup": call((425, 425), 1, 0),
    "bpf": call((321, 280), 0, 0, 0),
    "perf_event_open": call((298, 241), 0, 0, -1, -1, 0),
    "userfaultfd": call((323, 282), 1),
    "mount": call((165, 40), b"none", b"/nonexistent", b"tmpfs", 0, 0),
    "chroot": forked(lambda: call((161, 51), b"/tmp")),
    "open_tree": call((428, 428), -100, b"/tmp", 1),
    "AF_VSOCK": call((41, 198), 40, 1, 0),
    "AF_PACKET": call((41, 198), 17, 3, 0),
    "AF_ALG": call((41, 198), 38, 5, 0),
    "TIOCSTI": forked(lambda: terminal(0x5412)),
    "TIOCLINUX": forked(lambda: terminal(0x541C)),
    "TIOCSTI, wide": wide_ioctl(),
}))
`

const refusals = (backend: ConfiningBackend): Readonly<Record<string, number>> => {
  // Under Landlock only unix sockets exist, so all others are refused alike.
  const family = backend === 'landlock' ? 13 : 97
  return { clone3: 38, AF_VSOCK: family, AF_PACKET: family, AF_ALG: family }
}
const EPERM = 1

describeConfined('a system call that leaves the sandbox', (confinement) => {
  const refused = refusals(confinement.backend)
  const python = ['/usr/bin/python3', '-c', program] as const

  test('fails, each with the error that programs expect', async () => {
    const { stdout, stderr } = await confinement.run(confinement.directory(), python)
    const results = JSON.parse(stdout || `"${stderr}"`) as Record<string, number>
    expect(Object.keys(results)).toHaveLength(22)
    for (const [name, error] of Object.entries(results))
      expect([name, error]).toEqual([name, refused[name] ?? EPERM])
  })

  test('answers otherwise without isolation', async () => {
    const { stdout } = await confinement.runFreely(confinement.directory(), python)
    const results = JSON.parse(stdout) as Record<string, number>
    // Those that an ordinary user of any kernel may do; the rest depends on its configuration.
    for (const name of ['ptrace traceme', 'keyctl'])
      expect([name, results[name]]).toEqual([name, 0])
    for (const name of ['clone3', 'process_vm_readv'])
      expect(results[name]).not.toBe(refused[name] ?? EPERM)
  })

  declareIf(confinement.user === 'root', () => {
    test('is allowed to root without isolation', async () => {
      const { stdout } = await confinement.runFreely(confinement.directory(), python)
      const results = JSON.parse(stdout) as Record<string, number>
      for (const name of [
        'unshare user namespace',
        'clone user namespace',
        'setns',
        'AF_PACKET',
        'chroot',
      ]) {
        expect([name, results[name]]).toEqual([name, 0])
      }
    })
  })

  test('is filtered in every child', async () => {
    const { stdout } = await confinement.run(confinement.directory(), [
      'sh',
      '-c',
      'sh -c "grep -h -E \'^(Seccomp|NoNewPrivs|CapEff|CapBnd|CapPrm|CapAmb):\' /proc/self/status"',
    ])
    const status: Record<string, string> = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/:\s+/)),
    )
    // Only root may lower this one, and it limits nothing for those who can gain no privilege.
    if (confinement.backend === 'landlock' && confinement.user !== 'root') delete status['CapBnd']
    const boundary = 'CapBnd' in status || confinement.backend !== 'landlock'
    expect(status).toEqual({
      CapPrm: '0000000000000000',
      CapEff: '0000000000000000',
      ...(boundary ? { CapBnd: '0000000000000000' } : {}),
      CapAmb: '0000000000000000',
      NoNewPrivs: '1',
      Seccomp: '2',
    })
  })

  test('has no terminal of the caller: it is in a session of its own', async () => {
    const { stdout } = await confinement.run(confinement.directory(), ['cat', '/proc/self/stat'])
    // The fields after the name: state, parent, group, session, terminal.
    const [, , , session, terminal] = stdout.slice(stdout.lastIndexOf(')') + 2).split(' ')
    // 0 stands for a session that was not made in this process namespace.
    expect(Number(session)).toBeGreaterThan(0)
    expect(terminal).toBe('0')
  })

  test('finds no new privilege in a set-user-id program', async () => {
    const script =
      'grep Uid: /proc/self/status; for p in su sudo mount newgrp passwd; do command -v $p >/dev/null && $p -c "id -u" root </dev/null 2>/dev/null; done; true'
    const { stdout } = await confinement.run(confinement.directory(), ['sh', '-c', script])
    // Real, effective, saved and file-system user: all the caller's own.
    expect(stdout.split('\n')[0]?.split(/\s+/).slice(1)).toEqual(
      Array(4).fill(String(confinement.uid)),
    )
    expect(stdout.trim().split('\n')).toHaveLength(1)
  })

  test('has no user namespace to make one in', async () => {
    const { stdout } = await confinement.run(confinement.directory(), [
      'sh',
      '-c',
      'unshare --user --map-root-user id -u; bwrap --unshare-user --ro-bind / / id -u',
    ])
    expect(stdout).toBe('')
  })
})
