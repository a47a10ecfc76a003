/** The backends that exist, strongest first: the order in which `'auto'` tries them. */
export type IsolationBackendName = 'bubblewrap' | 'seatbelt' | 'none'

/** What a backend can make the operating system enforce; the words of `isolation: { require: [...] }`. */
export type IsolationProperty = 'files' | 'network' | 'kill' | 'syscalls'

/** How far each property holds for the commands of one sandbox. */
export interface EnforcedProperties {
  /** `'enforced'`: only the root can be written, only the root and the allow-list can be read. */
  readonly files: 'enforced' | 'none'
  /** `'enforced'`: no connection leaves. `'policy-only'`: only the static check of argv. `'host'`: allowed on request. */
  readonly network: 'enforced' | 'policy-only' | 'host'
  /** `'enforced'`: no process outlives its command. `'best-effort'`: group kill and sweep. */
  readonly kill: 'enforced' | 'best-effort'
  /** `'enforced'`: the system-call filter is loaded and user namespaces are off. */
  readonly syscalls: 'enforced' | 'none'
}

/** One thing that does not hold here, why, and what would change it. */
export interface NotEnforced {
  readonly what: IsolationProperty
  readonly why: string
  readonly fix: string
  /** For those a program may want to recognise. `'ROOT_OF_ANOTHER_USER'`: commands cannot write the root. */
  readonly code?: 'ROOT_OF_ANOTHER_USER'
}

/** What `sandbox.report` says about isolation. */
export interface IsolationReport {
  readonly backend: IsolationBackendName
  readonly enforced: EnforcedProperties
  readonly notEnforced: readonly NotEnforced[]
}

/** What a live canary found out about one backend on this machine, for this user. */
export interface ProbeVerdict {
  /** False: the backend does not run here, or let through what it must stop; `notEnforced` says which. */
  readonly usable: boolean
  readonly enforced: EnforcedProperties
  readonly notEnforced: readonly NotEnforced[]
}

/** Whether a command may change the root, or only read it. */
export type CommandAccess = 'write' | 'read'

/** The part of a sandbox's policy that an operating system can enforce. */
export interface IsolationPolicy {
  readonly network: 'none' | 'host'
  /**
   * `'read'`: the command gets the root read-only, the system's programs and `read`, and nothing else: no settings, tools,
   * devices, `/proc`, home or temporary directory. @default 'write'
   */
  readonly access?: CommandAccess
  /** Absolute paths outside the root that a command may read. Names that do not exist are skipped. */
  readonly read: readonly string[]
  /** Root-relative existing names that a command may not change: mounted read-only, their ancestors pinned. */
  readonly protect: readonly string[]
  /** Root-relative existing names that a command may neither read nor change. */
  readonly deny: readonly string[]
  /** Resource limits that only the backend can set; `ulimit`-like ones are the runner's, which puts `prlimit` before argv. */
  readonly limits: {
    /** Size of the private `/tmp`, in MiB. */
    readonly temporaryMb: number
  }
}

/** One command to confine. */
export interface WrapRequest {
  readonly argv: readonly [string, ...string[]]
  /** The program that was asked for, where `argv` begins with one that sets limits. @default `argv[0]` */
  readonly command?: string
  /** Absolute, the root or beneath it. */
  readonly cwd: string
  /** Absolute and canonical. */
  readonly rootDir: string
  readonly policy: IsolationPolicy
  /** The command's complete environment. */
  readonly env: Readonly<Record<string, string>>
  /** Whether the answer has to know for certain if the command was started; its `close` must then be called. */
  readonly reportsStart?: boolean
}

/** What to spawn instead of the command. */
export interface WrappedCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /**
   * Open descriptors that the child must receive as 3, 4, … in this order. The runner closes its copies after the
   * spawn, also after a failed one.
   */
  readonly descriptors: readonly number[]
  /** Why the command never started, given what an end with exit code 1 printed; `null` when it did start. */
  readonly startFailure?: (printed: string) => string | null
  /** Lets go of what `startFailure` needs. */
  readonly close?: () => void
}

/**
 * One way to confine a command. A backend never spawns for its user: `wrap` says what to spawn.
 *
 * `wrap` is cheap and synchronous; it may open descriptors, so a wrapped command must be spawned or its descriptors closed.
 */
export interface IsolationBackend {
  readonly name: IsolationBackendName
  /** Tries the backend live, once per process and user: what it claims was seen to hold. Never throws. */
  probe(): Promise<ProbeVerdict>
  wrap(request: WrapRequest): WrappedCommand
}
