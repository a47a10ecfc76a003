import {
  auditArchitecture,
  type FilterArchitecture,
  inspectedSystemCalls,
  type ModeCall,
  modeCalls,
  refusedSystemCalls,
  type SystemCallNumbers,
} from './seccomp-table.ts'
import {
  action,
  argument,
  type Block,
  encodeFilter,
  field,
  ifAnyBit,
  ifEqual,
  load,
  type Rule,
  stop,
  unlessAnyBit,
} from '../seccomp/program.ts'

/**
 * Returns the seccomp filter for one architecture: a classic BPF program as the kernel loads it (8 bytes an
 * instruction, little-endian), for `bwrap --seccomp`.
 *
 * Guarantees, whatever the user and its capabilities: no tracing, keyrings, bpf, perf, userfaultfd or io_uring; no
 * mounts; no new namespaces by `clone`, `unshare` or `setns`; sockets only of the families unix, inet, inet6 and netlink;
 * no keystrokes pushed into a terminal; no file becomes set-user-ID, which outside would run as its owner for anyone who
 * starts it; no call of a foreign architecture, whose numbers these rules would misread.
 *
 * Does not protect against: what an allowed call does. Which addresses a socket can reach is the network namespace's
 * part, which files exist is the mount namespace's. The set-group-ID bit is allowed: no argument tells a file from a
 * directory, where it is in honest use (`git init --shared`, and each `chmod` below such a directory keeps it). The one
 * group that a file can give away by it is the caller's own, the only one in the namespace.
 */
export function systemCallFilter(architecture: FilterArchitecture): Uint8Array {
  const filter = built.get(architecture) ?? encodeFilter(architecture, baseRules(architecture))
  built.set(architecture, filter)
  return filter
}

const built = new Map<FilterArchitecture, Uint8Array>()

/** The rules that every filter begins with. */
export function baseRules(architecture: FilterArchitecture): readonly Rule[] {
  const number = (numbers: SystemCallNumbers): number | null =>
    numbers[architecture === 'x64' ? 0 : 1]
  const { clone, clone3, openat2, unshare, socket, socketpair, ioctl } = inspectedSystemCalls

  const always = (numbers: SystemCallNumbers, result: number): Rule[] =>
    rule(numbers, [stop(result)])
  const rule = (numbers: SystemCallNumbers, body: readonly Block[]): Rule[] => {
    const call = number(numbers)
    return call === null ? [] : [{ call, body: body.flat() }]
  }
  return [
    ...Object.values(refusedSystemCalls)
      .flatMap((group): SystemCallNumbers[] => Object.values(group))
      .flatMap((numbers) => always(numbers, action.refuse)),
    // Its flags sit behind a pointer, unreadable here; C libraries fall back to clone on ENOSYS alone.
    ...always(clone3, action.unknownCall),
    // Its mode does too; programs fall back to openat.
    ...always(openat2, action.unknownCall),
    ...Object.values(modeCalls).flatMap((call) => rule(call.numbers, noSetUserId(call))),
    ...rule(clone, [
      load(field.argument0),
      ifAnyBit(newNamespaceFlags, action.refuse),
      stop(action.allow),
    ]),
    ...rule(unshare, [
      load(field.argument0),
      // CLONE_NEWTIME: in clone these bits are the exit signal.
      ifAnyBit(newNamespaceFlags | 0x80, action.refuse),
      stop(action.allow),
    ]),
    ...rule(socket, allowedFamilies()),
    ...rule(socketpair, allowedFamilies()),
    ...rule(ioctl, [
      load(field.argument1),
      ...refusedTerminalRequests.map((request) => ifEqual(request, action.refuse)),
      stop(action.allow),
    ]),
  ]
}

/** True for an architecture that {@link systemCallFilter} has numbers for. */
export function hasSystemCallFilter(architecture: string): architecture is FilterArchitecture {
  return Object.hasOwn(auditArchitecture, architecture)
}

// S_ISUID.
const setUserId = 0o4000

// O_CREAT and __O_TMPFILE, the same on both architectures: without them the register of the mode holds anything.
const creatingFlags = 0x40_0040

// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
const newNamespaceFlags = 0x7e02_0000

// AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (which getifaddrs needs). All others (vsock reaches the hypervisor, packet and
// alg the kernel's parsers) say what a kernel without them says.
const socketFamilies = [1, 2, 10, 16] as const

// TIOCSTI types into the terminal, TIOCLINUX pastes into the console: both run commands outside.
const refusedTerminalRequests = [0x5412, 0x541c] as const

function allowedFamilies(): Block[] {
  return [
    load(field.argument0),
    ...socketFamilies.map((family) => ifEqual(family, action.allow)),
    stop(action.unknownFamily),
  ]
}

function noSetUserId({ mode, flags }: ModeCall): Block[] {
  return [
    ...(flags === null ? [] : [load(argument(flags)), unlessAnyBit(creatingFlags, action.allow)]),
    load(argument(mode)),
    ifAnyBit(setUserId, action.refuse),
    stop(action.allow),
  ]
}
