import type { Limitation } from './limitation.ts'
import type { RunningCommand, StartRequest } from './running-command.ts'

/** The backends that exist, strongest first: the order in which `'auto'` tries them. */
export type IsolationBackendName = 'namespaces' | 'bubblewrap' | 'landlock' | 'seatbelt' | 'none'

/** What a backend can make the operating system enforce; the words of `isolation: { require: [...] }`. */
export type IsolationProperty = 'files' | 'network' | 'kill' | 'syscalls'

/** How far each property holds for the commands of one sandbox. */
export interface EnforcedProperties {
  /**
   * `'enforced'`: only the root can be written, only the root and the allow-list can be read. `'partial'`: so but for what
   * `notEnforced` says.
   */
  readonly files: 'enforced' | 'partial' | 'none'
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
  readonly code?: NotEnforcedCode
}

/** What a backend does not stop. Landlock's, but for the first and the last. */
export type NotEnforcedCode =
  | 'ROOT_OF_ANOTHER_USER'
  | 'DENIED_NAMES_READABLE'
  | 'PROTECTED_NAMES_WATCHED'
  | 'METADATA_VISIBLE'
  | 'METADATA_CHANGEABLE'
  | 'PROCESS_LIST_VISIBLE'
  | 'OWN_CODE_IN_ROOT'

/** The parts of a sandbox's policy that decide how far a backend can enforce it. */
export interface PolicyDemands {
  readonly network: 'none' | 'host'
  /** Whether `files.deny` and `files.protect` name anything. */
  readonly denies: boolean
  readonly protects: boolean
  /** Canonical; `undefined` before it is known. */
  readonly rootDir?: string
}

/** What follows from {@link PolicyDemands} for one sandbox. */
export interface BackendConditions {
  readonly enforced: Partial<EnforcedProperties>
  readonly notEnforced: readonly NotEnforced[]
  readonly limitations: readonly Limitation[]
}

/** What `sandbox.report` says about isolation. */
export interface IsolationReport {
  readonly backend: IsolationBackendName
  readonly enforced: EnforcedProperties
  readonly notEnforced: readonly NotEnforced[]
  /** What works less, not less safely. */
  readonly limitations: readonly Limitation[]
}

/** What a live canary found out about one backend on this machine, for this user. */
export interface ProbeResult {
  /** False: the backend does not run here, or let through what it must stop; `notEnforced` says which. */
  readonly usable: boolean
  readonly enforced: EnforcedProperties
  readonly notEnforced: readonly NotEnforced[]
}

/** One way to confine commands. */
export interface IsolationBackend {
  readonly name: IsolationBackendName
  /** Tries the backend live, once per process and user: what it claims was seen to hold. Never throws. */
  probe(): Promise<ProbeResult>
  /** How far the backend can enforce a policy, once it is known to work here. Without it: entirely. */
  conditions?(demands: PolicyDemands): BackendConditions
  /**
   * What has to be awaited before {@link IsolationBackend.start}; `undefined` when everything is ready. Other commands may
   * take what was prepared, so ask again after waiting.
   */
  prepare(): Promise<void> | undefined
  /**
   * Starts one command.
   *
   * @throws SandboxError when the policy cannot be enforced or the program cannot be seen; nothing was started
   */
  start(request: StartRequest): RunningCommand
  /** Removes what the backend keeps for a root whose sandbox was closed. Another sandbox of the root goes on. */
  release?(rootDir: string): Promise<void>
}
