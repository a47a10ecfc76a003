import type { Limitation } from '../isolation/limitation.ts'
import type { Violation } from '../path-rules/violation.ts'

/** What is known of a command that failed. */
export interface RefusalFacts {
  readonly output: string
  /** Calls that were refused, among others. */
  readonly violations: readonly Violation[]
  /** What works less here. */
  readonly limitations: readonly Limitation[]
  /** Of those, what the command is known to have tried. */
  readonly met: readonly Limitation['code'][]
  /** Its own path says nothing of what a command tried. */
  readonly rootDir: string
  /** Whether a system-call filter was loaded. */
  readonly isFiltered: boolean
  /** Whether the operating system keeps the command off every network. */
  readonly isOffline: boolean
}

/**
 * One or two sentences for a command that failed after isolation refused a call: which one, and what to do instead.
 * `undefined` when nothing was refused, or when its output does not look as if that were the reason.
 */
export function refusalHint(facts: RefusalFacts): string | undefined {
  const call = facts.violations.find(({ rule }) => callRules.has(rule))
  if (call !== undefined) return call.message
  return (
    limitationHint(facts) ??
    (facts.isFiltered ? filterHint(facts.output) : undefined) ??
    (facts.isOffline ? offlineHint(facts.output) : undefined)
  )
}

const callRules: ReadonlySet<Violation['rule']> = new Set(['files', 'network', 'processes'])

interface Advice {
  /** The command tried it, as its output shows where the system does not tell. */
  readonly sign?: RegExp
  /** What programs print when this is why they fail. @default {@link denial} */
  readonly complaint?: RegExp
  readonly advice: string
}

const denial = /permission denied|\bEACCES\b|operation not permitted|\bEPERM\b/i

const adviceFor: Readonly<Partial<Record<Limitation['code'], Advice>>> = {
  NO_LOOPBACK: {
    complaint:
      /permission denied|\bEACCES\b|connect|socket|network|resolve|temporary failure in name|\blisten\b/i,
    advice:
      'The command tried to use the network, and commands have none here: servers and clients on 127.0.0.1 do not work either. Do it without a network, or over a stream socket with a path in the root.',
  },
  NO_UNIX_SOCKETS: {
    complaint: /permission denied|\bEACCES\b|connect|socket/i,
    advice:
      'The command tried to open a unix socket, and commands have none here. Do it over a TCP port.',
  },
  NO_DATAGRAM_SOCKETS: {
    complaint: /permission denied|\bEACCES\b|connect|socket/i,
    advice:
      'The command tried to open a datagram socket, and commands have none here. Use a stream socket with a path in the root.',
  },
  NO_SHARED_MEMORY: {
    sign: /\/dev\/shm|multiprocessing|SemLock|sem_open|shm_open/,
    complaint: /permission denied|\bEACCES\b|not implemented|\bENOSYS\b/i,
    advice:
      'The command tried to use shared memory or semaphores of the machine, and commands have none here. Use threads, pipes or files.',
  },
  NO_TERMINALS: {
    sign: /\/dev\/(?:ptmx|pts|tty)|openpty|forkpty|pseudo-?terminal|out of pty/i,
    complaint: /permission denied|\bEACCES\b|out of pty|no such file/i,
    advice:
      'The command tried to open a terminal, and commands have none here. Run it without one (such as with --no-tty or --batch).',
  },
  NO_PRIVATE_TMP: {
    sign: /(?:^|[\s"'`:=(])\/(?:var\/)?tmp\b(?!\/smithers-process-)/m,
    advice:
      'Commands cannot use /tmp here. Use $TMPDIR, which names a private directory, or a directory in the root.',
  },
  NO_MOVES_BETWEEN_DIRECTORIES: {
    sign: /cross-device link|\bEXDEV\b/i,
    complaint: /cross-device link|\bEXDEV\b/i,
    advice:
      'Files cannot be renamed or linked from one directory to another here. Copy them and remove the originals.',
  },
}

function limitationHint(facts: RefusalFacts): string | undefined {
  const { limitations, met, rootDir } = facts
  const output = facts.output.replaceAll(rootDir, 'the root')
  for (const { code, fix } of limitations) {
    const known = adviceFor[code]
    if (known === undefined) continue
    const { sign, complaint = denial, advice } = known
    const isTried = met.includes(code) || sign?.test(output) === true
    if (isTried && complaint.test(output)) return `${advice} The user can change that: ${fix}`
  }
  return undefined
}

// Everywhere. The messages are those of the programs that make these calls.
const filtered: readonly { readonly sign: RegExp; readonly advice: string }[] = [
  {
    sign: /LeakSanitizer (?:has encountered a fatal error|does not work under ptrace)/,
    advice:
      'LeakSanitizer traces its own process, which isolation refuses. Run the program with ASAN_OPTIONS=detect_leaks=0: the other checks of the sanitizers work.',
  },
  {
    sign: /ptrace[^\n]*(?:not permitted|denied)|(?:strace|gdb|lldb)[^\n]*not permitted/i,
    advice:
      'Isolation refuses to trace processes, so debuggers and strace do not work. Use messages of the program itself.',
  },
  {
    sign: /no usable sandbox|(?:unshare|clone|bwrap|namespace)[^\n]*(?:not permitted|denied|no permissions)/i,
    advice:
      'Isolation refuses new namespaces, so containers and browsers with a sandbox of their own do not start. Run the program without its own sandbox (Chromium: --no-sandbox).',
  },
  {
    sign: /no new privileges|must be (?:setuid|suid)|sudo: effective uid is not 0|su: (?:cannot set|Authentication)/i,
    advice: 'Isolation gives no new privileges, so sudo and su do not work. Do it as this user.',
  },
  {
    sign: /^(?:u?mount|chroot)[:\s][^\n]*(?:not permitted|denied|superuser)/im,
    advice:
      'Isolation refuses mounts and changes of the root directory. Do it with files in place.',
  },
]

/** What clients print when no name can be resolved and no address reached. */
const unreachable =
  /\b(?:ENOTCACHED|EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b|ERR_PNPM_NO_OFFLINE|could not resolve (?:host|proxy)|temporary failure in name resolution|name or service not known|network is (?:unreachable|down)|no matching distribution found/i

function offlineHint(output: string): string | undefined {
  return unreachable.test(output)
    ? 'The command tried to use the network, and commands have none here. Work with what is installed, or tell the user what needs the network.'
    : undefined
}

function filterHint(output: string): string | undefined {
  return filtered.find(({ sign }) => sign.test(output))?.advice
}
