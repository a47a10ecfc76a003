import {
  auditArchitecture,
  type FilterArchitecture,
  inspectedSystemCalls,
  type ModeCall,
  modeCalls,
  refusedSystemCalls,
  type SystemCallNumbers,
} from './seccomp-table.ts'

/**
 * Returns the seccomp filter for one architecture: a classic BPF program as the kernel loads it (8 bytes an
 * instruction, little-endian), for `bwrap --seccomp`.
 *
 * Guarantees, whatever the user and its capabilities: no tracing, keyrings, bpf, perf, userfaultfd or io_uring; no
 * mounts; no new namespaces by `clone`, `unshare` or `setns`; sockets only of the families unix, inet, inet6 and netlink;
 * no keystrokes pushed into a terminal; no file becomes set-user-ID, which outside would run as its owner for anyone that
 * starts it; no call of a foreign architecture, whose numbers these rules would misread.
 *
 * Does not protect against: what an allowed call does. Which addresses a socket can reach is the network namespace's
 * part, which files exist is the mount namespace's. The set-group-ID bit is allowed: no argument tells a file from a
 * directory, where it is in honest use (`git init --shared`, and each `chmod` below such a directory keeps it). The one
 * group that a file can give away by it is the caller's own, the only one in the namespace.
 */
export function systemCallFilter(architecture: FilterArchitecture): Uint8Array {
  const number = (numbers: SystemCallNumbers): number | null =>
    numbers[architecture === 'x64' ? 0 : 1]
  const { clone, clone3, openat2, unshare, socket, socketpair, ioctl } = inspectedSystemCalls

  const always = (numbers: SystemCallNumbers, result: number): Rule[] =>
    rule(numbers, [stop(result)])
  const rule = (numbers: SystemCallNumbers, body: readonly Block[]): Rule[] => {
    const call = number(numbers)
    return call === null ? [] : [{ call, body: body.flat() }]
  }
  const rules: readonly Rule[] = [
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
  return encode([
    load(field.architecture),
    unless(auditArchitecture[architecture], action.kill),
    load(field.number),
    // x32 shares the architecture of x64 and numbers its calls from here.
    ...(architecture === 'x64' ? [ifAtLeast(0x4000_0000, action.unknownCall)] : []),
    decide(rules.toSorted((a, b) => a.call - b.call)),
  ])
}

/** True for an architecture that {@link systemCallFilter} has numbers for. */
export function hasSystemCallFilter(architecture: string): architecture is FilterArchitecture {
  return Object.hasOwn(auditArchitecture, architecture)
}

const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

// SECCOMP_RET_*: the high half is the action, the low half the errno.
const action = {
  allow: 0x7fff_0000,
  kill: 0x8000_0000,
  refuse: 0x0005_0000 | EPERM,
  unknownCall: 0x0005_0000 | ENOSYS,
  unknownFamily: 0x0005_0000 | EAFNOSUPPORT,
} as const

// Offsets into struct seccomp_data. Arguments are 64 bits wide; the kernel itself reads the low half of these ones.
const field = { number: 0, architecture: 4, argument0: 16, argument1: 24 } as const
const argument = (index: number): number => field.argument0 + 8 * index

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

/** `[code, jump if true, jump if false, constant]` of struct sock_filter. */
type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, constant: number]
type Block = readonly Instruction[]

const load = (offset: number): Block => [[0x20, 0, 0, offset]]
const stop = (result: number): Block => [[0x06, 0, 0, result]]
const ifEqual = (value: number, result: number): Block => [[0x15, 0, 1, value], ...stop(result)]
const unless = (value: number, result: number): Block => [[0x15, 1, 0, value], ...stop(result)]
const ifAtLeast = (value: number, result: number): Block => [[0x35, 0, 1, value], ...stop(result)]
const ifAnyBit = (mask: number, result: number): Block => [[0x45, 0, 1, mask], ...stop(result)]
const unlessAnyBit = (mask: number, result: number): Block => [[0x45, 1, 0, mask], ...stop(result)]

/** What is done with one system call: every path through the body ends with a result. */
interface Rule {
  readonly call: number
  readonly body: Block
}

/**
 * Finds the rule by halves, in a dozen comparisons instead of a hundred: the kernel walks the filter once for each of its
 * calls when it is loaded, and from then on at each call that some rule looks into, such as every opening of a file.
 */
function decide(rules: readonly Rule[]): Block {
  if (rules.length <= 3) {
    const each = rules.map(({ call, body }): Block => [[0x15, 0, body.length, call], ...body])
    return [...each.flat(), ...stop(action.allow)]
  }
  const middle = rules.length >> 1
  const below = decide(rules.slice(0, middle))
  const from = decide(rules.slice(middle))
  return [[0x35, below.length, 0, rules[middle]?.call ?? 0], ...below, ...from]
}

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

function encode(blocks: readonly Block[]): Uint8Array {
  const instructions = blocks.flat()
  const view = new DataView(new ArrayBuffer(instructions.length * 8))
  for (const [index, [code, jumpTrue, jumpFalse, constant]] of instructions.entries()) {
    // A byte each; more would silently lead elsewhere.
    if (Math.max(jumpTrue, jumpFalse) > 255) throw new Error(`jump too far at ${index}`)
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, jumpTrue)
    view.setUint8(index * 8 + 3, jumpFalse)
    view.setUint32(index * 8 + 4, constant, true)
  }
  return new Uint8Array(view.buffer)
}
