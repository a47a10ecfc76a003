import { baseRules } from '../bubblewrap/seccomp-filter.ts'
import {
  type FilterArchitecture,
  inspectedSystemCalls,
  modeCalls,
  type SystemCallNumbers,
} from '../bubblewrap/seccomp-table.ts'
import {
  action,
  argument,
  type Block,
  encodeFilter,
  ifAnyBit,
  ifEqual,
  keepBits,
  load,
  type Rule,
  stop,
  unless,
  unlessAnyBit,
} from '../seccomp/program.ts'
import {
  connectCall,
  fcntlCall,
  metadataCalls,
  newerMetadataCalls,
  openCalls,
  pidfdSendSignal,
  priorityCalls,
  sharedObjectCalls,
  signalCalls,
  steeringCalls,
  strangersCalls,
  truncateCall,
} from './call-numbers.ts'

/** What {@link landlockFilter} is made for. */
export interface LandlockFilterOptions {
  readonly architecture: FilterArchitecture
  /** Version of Landlock: what it does not judge itself is refused, or judged by the supervisor. */
  readonly version: number
  /** Whether a supervisor judges calls; otherwise those that it would judge are refused, or let through and reported. */
  readonly vets: boolean
  readonly network: 'none' | 'host'
}

/**
 * Returns the system-call filter for commands under Landlock, which share every namespace with the host: the rules of
 * all filters, and rules for what a namespace or a read-only mount would stop elsewhere.
 */
export function landlockFilter(options: LandlockFilterOptions): Uint8Array {
  const { architecture, version, vets, network } = options
  const rule = (numbers: SystemCallNumbers, ...body: readonly Block[]): Rule[] => {
    const call = numbers[architecture === 'x64' ? 0 : 1]
    return call === null ? [] : [{ call, body: body.flat() }]
  }
  const all = (calls: Readonly<Record<string, SystemCallNumbers>>, result: number): Rule[] =>
    Object.values(calls).flatMap((numbers) => rule(numbers, stop(result)))
  const vetted = vets ? action.vet : action.refuse
  // The supervisor refuses these, too, and remembers that they were tried.
  const absent = vets ? action.vet : action.noAccess
  return encodeFilter(architecture, [
    ...baseRules(architecture),
    ...Object.values(modeCalls).flatMap(({ numbers, mode, flags }) =>
      rule(
        numbers,
        ...(flags === null
          ? []
          : [load(argument(flags)), unlessAnyBit(creatingFlags, action.allow)]),
        load(argument(mode)),
        ifAnyBit(setIds, action.refuse),
        stop(action.allow),
      ),
    ),
    ...all(newerMetadataCalls, action.refuse),
    ...(vets ? all(metadataCalls, action.vet) : []),
    ...all(sharedObjectCalls, vets ? action.vet : action.unknownCall),
    ...all(strangersCalls, action.refuse),
    ...Object.values(steeringCalls).flatMap(({ numbers, process }) =>
      rule(numbers, load(argument(process)), ifEqual(0, action.allow), stop(vetted)),
    ),
    ...Object.values(priorityCalls).flatMap(({ numbers, user }) =>
      rule(
        numbers,
        load(argument(0)),
        ifEqual(user, action.refuse),
        load(argument(1)),
        ifEqual(0, action.allow),
        stop(vetted),
      ),
    ),
    ...rule(inspectedSystemCalls.socket, ...socketRule(network, version, absent)),
    ...rule(inspectedSystemCalls.socketpair, ...ownSocketsOnly(absent)),
    ...rule(inspectedSystemCalls.ioctl, ...requestRule),
    ...(network === 'none' && version < 9
      ? rule(connectCall, stop(vets ? action.vet : action.noAccess))
      : []),
    ...(version < 3 ? truncateRules(rule, vetted) : []),
    ...(version < 6 ? signalRules(rule, all, vetted) : []),
  ])
}

type MakeRule = (numbers: SystemCallNumbers, ...body: readonly Block[]) => Rule[]

// S_ISUID and S_ISGID: here the groups of a file are the user's real ones.
const setIds = 0o6000
const creatingFlags = 0x40_0040

const [unix, inet, inet6, netlink] = [1, 2, 10, 16] as const
// SOCK_STREAM and SOCK_SEQPACKET. A datagram reaches any socket of the machine without a connection.
const connectedKinds = [1, 5] as const
const kindBits = 0xf

const connectedOnly = (absent: number): readonly Block[] => [
  load(argument(1)),
  keepBits(kindBits),
  ...connectedKinds.map((kind) => ifEqual(kind, action.allow)),
  stop(absent),
]

const ownSocketsOnly = (absent: number): readonly Block[] => [
  load(argument(0)),
  // It would list the machine's interfaces. Node takes this error alone for "there are none"; npm asks at its start.
  ifEqual(netlink, action.unknownCall),
  unless(unix, absent),
  ...connectedOnly(absent),
]

function socketRule(network: 'none' | 'host', version: number, absent: number): readonly Block[] {
  if (network === 'none') return ownSocketsOnly(absent)
  return [
    load(argument(0)),
    ...[inet, inet6].map((family) => ifEqual(family, action.allow)),
    // Without a judge for `connect`, which the addresses of the network rule out, a socket of any daemon is in reach.
    ...(version < 9 ? [ifEqual(unix, absent)] : []),
    ...(version < 9 ? [] : [skipUnless(unix, connectedOnly(absent))]),
    unless(netlink, action.unknownFamily),
    load(argument(2)),
    ifEqual(0, action.allow),
    stop(action.noAccess),
  ]
}

/** The body decides for this value, what follows for all others. */
function skipUnless(value: number, body: readonly Block[]): Block {
  const instructions = body.flat()
  return [[0x15, 0, instructions.length, value], ...instructions]
}

// Requests to a file system that read, or share contents between files that are open for it.
const readingRequests = [
  0x8008_6601, // FS_IOC_GETFLAGS
  0x8004_6601, // FS_IOC32_GETFLAGS
  0xc020_660b, // FS_IOC_FIEMAP
  0x801c_581f, // FS_IOC_FSGETXATTR
  0x8008_7601, // FS_IOC_GETVERSION
  0x4004_9409, // FICLONE
  0x4020_940d, // FICLONERANGE
  0xc018_9436, // FIDEDUPERANGE
] as const

// All others of these kinds: they change attributes of files, or subvolumes, that are open for reading only.
const fileSystemKinds = [0x6600, 0x5800, 0x7600, 0x9400] as const

// TIOCSTI types into the terminal, TIOCLINUX pastes into the console.
const terminalRequests = [0x5412, 0x541c] as const

const requestRule: readonly Block[] = [
  load(argument(1)),
  ...terminalRequests.map((request) => ifEqual(request, action.refuse)),
  ...readingRequests.map((request) => ifEqual(request, action.allow)),
  keepBits(0xff00),
  ...fileSystemKinds.map((kind) => ifEqual(kind, action.refuse)),
  stop(action.allow),
]

// O_TRUNC, and O_ACCMODE: opened for reading, an old Landlock asks for the right to read only.
const truncates = 0o1000
const accessMode = 3

function truncateRules(rule: MakeRule, vetted: number): Rule[] {
  return [
    ...rule(truncateCall, stop(vetted)),
    ...openCalls.flatMap(({ numbers, flags }) =>
      rule(
        numbers,
        load(argument(flags)),
        skipUnlessAny(truncates, [unlessAnyBit(accessMode, action.refuse)]),
        load(argument(flags)),
        unlessAnyBit(creatingFlags, action.allow),
        load(argument(flags + 1)),
        ifAnyBit(setIds, action.refuse),
        stop(action.allow),
      ),
    ),
  ]
}

function skipUnlessAny(mask: number, body: readonly Block[]): Block {
  const instructions = body.flat()
  return [[0x45, 0, instructions.length, mask], ...instructions]
}

// F_SETOWN, F_SETSIG, F_SETOWN_EX: a signal by way of a descriptor.
const signalRequests = [8, 10, 15] as const

function signalRules(
  rule: MakeRule,
  all: (calls: Readonly<Record<string, SystemCallNumbers>>, result: number) => Rule[],
  vetted: number,
): Rule[] {
  return [
    ...all(signalCalls, vetted),
    ...rule(pidfdSendSignal, stop(action.refuse)),
    ...rule(
      fcntlCall,
      load(argument(1)),
      ...signalRequests.map((request) => ifEqual(request, action.refuse)),
      stop(action.allow),
    ),
  ]
}
