import type { Readable, Writable } from 'node:stream'
import type { Violation } from '../path-rules/violation.ts'
import type { Limitation } from './limitation.ts'
import type { IsolationPolicy } from './isolation-policy.ts'

/** Where a piece of output came from. */
export type OutputStream = 'stdout' | 'stderr'

/** Kernel limits that a process passes on to its children; `null` leaves a limit as it is. */
export interface ResourceLimits {
  readonly fileMb: number | null
  readonly cpuSeconds: number | null
  /** Counted per user, so it must be `null` where other processes of the user would count. */
  readonly processes: number | null
}

/** One command to start under isolation. */
export interface StartRequest {
  readonly argv: readonly [string, ...string[]]
  /** Absolute and canonical: the root or a directory beneath it. */
  readonly cwd: string
  /** A path that names the very directory that was checked, such as `/proc/PID/fd/N`; elsewhere the same as `cwd`. */
  readonly cwdHandle: string
  /** Absolute and canonical. */
  readonly rootDir: string
  /** An open descriptor of that very directory, where it is held by one. */
  readonly rootDescriptor?: number | undefined
  readonly policy: IsolationPolicy
  /** The command's complete environment. */
  readonly env: Readonly<Record<string, string>>
  readonly limits: ResourceLimits
  /** Directories of control groups that the command enters before it runs, so that no process escapes the count. */
  readonly controlGroups: readonly string[]
  /** Whether standard input is a pipe; otherwise it is empty. */
  readonly hasInput: boolean
  /** One pipe for both streams, where there are real pipes: the exact order, and all of it as `stdout`. */
  readonly mergeOutput: boolean
}

/** A command that was started, or is about to be. */
export interface RunningCommand {
  /** The process id of the command, or of what confines it; `undefined` when nothing was started. Never rejects. */
  readonly started: Promise<number | undefined>
  readonly stdin: Writable | null
  readonly outputs: readonly (readonly [OutputStream, Readable])[]
  /** Settles when the command and all processes that it left behind have ended, as far as the backend can tell. Never rejects. */
  readonly ended: Promise<CommandEnd>
  /** Its living processes that can be found, to measure what they use. */
  processes(): readonly number[]
  /** Calls that were refused so far, where the backend knows. */
  violations?(): readonly Violation[]
  /** What works less and the command is known to have tried, where the backend knows; complete when it has ended. */
  limitationsMet?(): readonly Limitation['code'][]
  /** Sends SIGKILL to everything that the command started. False when the command has already exited. Idempotent. */
  kill(): boolean
  /** Why the command never started, given what was printed before an exit with code 1; `null` when it did start. */
  startFailure?(printed: string): string | null
  /** Releases what `startFailure` needs. */
  close?(): void
}

/** How a command ended. */
export type CommandEnd =
  | {
      readonly kind: 'exited'
      readonly code: number | null
      readonly signal: NodeJS.Signals | null
      /** True when every process that could write output is known to be dead. */
      readonly allEnded: boolean
      /** Whether processes that the command had started were left and ended; absent where the backend cannot tell. */
      readonly leftBehind?: boolean
    }
  | {
      readonly kind: 'not-started'
      readonly error: NodeJS.ErrnoException
      /** Where isolation is the reason: what it was, and what to do next. */
      readonly why?: string
    }
  /** Supervision failed, so the effect of the command is unknown. */
  | { readonly kind: 'lost'; readonly why: string }
