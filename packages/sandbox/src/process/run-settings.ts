import type { CommandCheck } from '../command-policy/command-policy.ts'
import type { SandboxFiles } from '../files/sandbox-files.ts'
import type { IsolationBackend, WrappedCommand } from '../isolation/backend.ts'
import type { ResolvedLimits } from '../options/limits.ts'
import type { RunEnforcement } from './run-types.ts'
import type { OutputChunk } from './output/read-output.ts'
import type { CommandInput } from './command-input.ts'
import type { CapturedOutput } from './output/output-buffer.ts'

/** A sandbox as its commands see it: every option resolved. */
export interface RunSettings {
  readonly rootDir: string
  readonly files: SandboxFiles
  readonly backend: IsolationBackend
  readonly network: 'none' | 'host'
  /** Absolute paths outside the root that commands may read. */
  readonly read: readonly string[]
  /** Globs of what commands may neither read nor change. */
  readonly deny: readonly string[]
  /** Names that commands may not change. */
  readonly protect: readonly string[]
  readonly enforced: Omit<RunEnforcement, 'limits'>
  readonly env: Readonly<Record<string, string>>
  readonly limits: ResolvedLimits
  /** `null` when nothing is checked: the network is open, or left to isolation. */
  readonly check: CommandCheck | null
  /** Says once that only the static check stands before the network. */
  readonly warn: () => void
}

/** What {@link runCommand} needs: everything is decided and checked already. */
export interface RunCommandRequest {
  readonly command: WrappedCommand
  /** Where to start; may be a `/proc` name of a held descriptor. */
  readonly cwd: string
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly signal: AbortSignal | undefined
  readonly stdin: CommandInput | undefined
  readonly onOutput: ((chunk: OutputChunk) => void | Promise<void>) | undefined
  /** Value of the marker variable in the command's environment. */
  readonly marker: string
  /** True when the backend's process namespace dies with the process that is spawned. */
  readonly namespaceKill: boolean
  /** One pipe for both streams, where there are pipes: the exact order, and all of it as `stdout`. */
  readonly mergeOutput: boolean
  /** MiB of memory to watch for, where nothing better does; `null` for no limit. */
  readonly memoryMb: number | null
  readonly hooks: RunHooks
}

/** What a caller may be told while a command runs. */
export interface RunHooks {
  readonly onStart?: (pid: number) => void
  /** The command is gone; what it printed may still be in the pipes. */
  readonly onExit?: () => void
}

/** What came of a command. */
export interface CommandOutcome extends CapturedOutput {
  readonly terminated: TerminationReason | undefined
  /** `null` when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly durationMs: number
  /** The process was never started. */
  readonly spawnError: NodeJS.ErrnoException | undefined
  /** What `onOutput` or the source of the input threw. */
  readonly callerError: unknown
}

/** Why a command was ended before it ended by itself. */
export type TerminationReason = 'timeout' | 'aborted' | 'caller-failed' | 'memory'
