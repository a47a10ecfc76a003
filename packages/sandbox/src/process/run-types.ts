import type { SandboxError } from '../errors/sandbox-error.ts'
import type { OnNetworkDecision } from '../egress/network-options.ts'
import type { NetworkUse } from '../egress/network-record.ts'
import type { EnforcedProperties, IsolationBackendName } from '../isolation/backend.ts'
import type { CommandAccess } from '../isolation/isolation-policy.ts'
import type { CommandLimits } from '../options/limits.ts'
import type { Violation } from '../path-rules/violation.ts'
import type { CommandInput } from './supervise.ts'
import type { CapturedOutput } from './output/output-buffer.ts'
import type { OutputChunk } from './output/read-output.ts'

/** Options of {@link Sandbox.run}. */
export interface RunOptions extends CommandLimits {
  /** Working directory, from the root or absolute beneath it. @default '.' */
  readonly cwd?: string | undefined
  /** More variables for this command; they win over the sandbox's. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /**
   * `'read'` for a program that changes nothing, such as a search: under bubblewrap it gets the root read-only, the
   * system's programs and `files.read`, and nothing else (no tools of PATH but itself, settings, devices, `/proc`, home or
   * temporary directory). It is confined more closely, and starts sooner. @default 'write'
   */
  readonly access?: CommandAccess | undefined
  /**
   * Gives the command one pipe for both of its streams, so that `output` has what it printed in the exact order. It then
   * is all `stdout`, and `stderr` is empty. Two pipes are read one after the other, so their order is only near. On Linux;
   * elsewhere the streams stay two. @default false
   */
  readonly mergeOutput?: boolean | undefined
  /**
   * The command is a shell and its last argument a script: the check of `commands` reads each command of it, too, as far as
   * they are written out. @default false
   */
  readonly checkScript?: boolean | undefined
  /** What the command reads from standard input. @default nothing */
  readonly stdin?: CommandInput | undefined
  /** Kills the whole tree when it aborts; a signal that has aborted already starts nothing. */
  readonly signal?: AbortSignal | undefined
  /** Called with each piece of output; a returned promise holds the stream back until it is settled. */
  readonly onOutput?: ((chunk: OutputChunk) => void | Promise<void>) | undefined
  /**
   * Decides about the connections of this command, with `network: { allow }`. @default `network.onDecision` of the sandbox
   */
  readonly onDecision?: OnNetworkDecision | undefined
}

/** What came of {@link Sandbox.run}. */
export interface RunResult extends CapturedOutput {
  /**
   * `'exited'`: by itself, with any exit code. `'killed'`: by a signal that was not ours, or for its memory.
   * `'refused'`: by a rule; nothing was started. `'spawn-error'`: it could not be started.
   */
  readonly status: 'exited' | 'timeout' | 'aborted' | 'killed' | 'spawn-error' | 'refused'
  /** `null` when a signal ended it or it was never started. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly durationMs: number
  /** What the operating system enforced for this command. */
  readonly enforced: RunEnforcement
  /** Protected names that the command made or changed, limits that it met, calls and hosts that it was refused. */
  readonly violations: readonly Violation[]
  /**
   * Whether the command, which ended by itself, had left processes in the background, which were ended with it. Absent
   * where the backend cannot tell: bubblewrap.
   */
  readonly leftBehind?: boolean
  /** Every connection that the command asked for, with `network: { allow }`. */
  readonly network?: NetworkUse
  /** Why the command may have failed, when that is a rule of ours and its output does not say so. */
  readonly hint?: string
  /** Why the status is not `'exited'`: what to throw, or to show. */
  readonly error?: SandboxError
}

/**
 * How far the limits hold that not every machine can enforce, their defaults too. `'enforced'`: by the kernel.
 * `'watched'`: measured ten times a second, so a command can exceed it for a moment. Absent ones were not asked for and
 * have no default here. `fileMb`, `cpuSeconds`, the time and the output hold everywhere.
 */
export interface LimitEnforcement {
  readonly memoryMb?: 'enforced' | 'watched' | 'none'
  readonly processes?: 'enforced' | 'watched' | 'none'
}

/** What was enforced for one command. */
export interface RunEnforcement extends EnforcedProperties {
  readonly backend: IsolationBackendName
  readonly limits: LimitEnforcement
}
