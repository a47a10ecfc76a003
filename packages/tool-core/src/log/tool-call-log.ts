import type { MaybePromise } from '../async/maybe-promise.ts'
import type { CallEffect } from '../errors/smithers-error.ts'
import type { ApprovalStore } from './approval-store.ts'
import type { CallMatches, CallSearch, LoggedRun, LoggedRunQuery } from './log-browsing.ts'
import type { RunStateStore } from './run-state-store.ts'
import type { RunStore } from './run-store.ts'
import type { ToolCallQuery } from './tool-call-query.ts'
import type { ToolCallClaim, ToolCallRow, ToolCallStatus } from './tool-call-row.ts'

export type { ToolCallCursor, ToolCallQuery } from './tool-call-query.ts'

/** What is known of a call before it runs. */
export type StartRow = Omit<
  ToolCallRow,
  | 'outputJson'
  | 'finishedAtMs'
  | 'status'
  | 'errorJson'
  | 'effect'
  | 'claim'
  | 'approvalId'
  | 'fromCache'
  | 'outputExact'
  | 'networkJson'
>

/** One attempt of one task of a run. */
export type TaskAttempt = Pick<StartRow, 'runId' | 'nodeId' | 'iteration' | 'attempt'>

export interface StartOptions {
  /** `'fsync'`: the row survives a power failure before `start` resolves. `'relaxed'`: it survives the process. */
  readonly durability: 'fsync' | 'relaxed'
  /** Whether the row claims its idempotency key. `null` never blocks and is never blocked. */
  readonly claim: ToolCallClaim | null
  /**
   * The tokens of the calls with the same key that the caller knows. Another one that claimed the key and ran, or runs,
   * is `'claimed'`, unless it certainly had no effect: the caller decides again with what it did not know.
   *
   * @default calls that have ended are not looked at
   */
  readonly known?: readonly string[]
  /**
   * The approval that the call runs with. One row at a time uses an approval: while it runs, and for good unless it
   * certainly did nothing (see `usesApproval`). Only for a log with `capabilities.approvals`.
   *
   * @default null
   */
  readonly approvalId?: string | null
}

export type StartResult =
  | { readonly ok: true }
  /** The key is in flight, has already succeeded (claim `'once'`), or has been used by a call that is not `known`. */
  | { readonly ok: false; readonly reason: 'claimed'; readonly existing: ToolCallRow }
  /** Another row uses the approval. */
  | { readonly ok: false; readonly reason: 'approval-used'; readonly existing: ToolCallRow }
  /** Another row has this run, node, iteration, attempt and seq. */
  | { readonly ok: false; readonly reason: 'seq-taken' }
  /** A later attempt of the task has begun: see `beginAttempt`. */
  | { readonly ok: false; readonly reason: 'superseded' }

/** What is known of a call after it ran. */
export interface FinishPatch {
  readonly status: Exclude<ToolCallStatus, 'started'>
  readonly outputJson: string | null
  readonly errorJson: string | null
  readonly effect: CallEffect
  /** Milliseconds since the epoch. */
  readonly finishedAtMs: number
  /** `callToken` of the row whose output was returned instead of running the tool. */
  readonly replayOf?: string | null
  /** The output is that of an equal call of the same run, which the tool's cache held. @default false */
  readonly fromCache?: boolean
  /** `outputJson` is the whole output. @default false */
  readonly outputExact?: boolean
  /** What the call asked of the network, as JSON of `CallConnections`. @default absent */
  readonly networkJson?: string
}

export interface RecoverQuery {
  readonly runId?: string
  readonly nodeId?: string
  readonly iteration?: number
  /** Only attempts before this one. */
  readonly beforeAttempt?: number
  /** Rows whose lease ended at or before this are orphans. Milliseconds since the epoch. */
  readonly nowMs: number
}

export interface PruneQuery {
  /** Remove rows finished before this. Milliseconds since the epoch. */
  readonly finishedBeforeMs?: number
  /** Keep the rows of this many newest runs. */
  readonly keepRuns?: number
  /** Keep at most this many rows, the newest. */
  readonly maxRows?: number
  /** Remove everything about these runs, open or not; only a run that a process holds stays. */
  readonly runs?: readonly string[]
}

/** What an adapter can promise; the conformance suite tests each promise that is made. */
export interface ToolCallLogCapabilities {
  /** Rows survive `kill -9` of the process. */
  readonly durable: boolean
  /** Several processes may use one log at once. */
  readonly multiProcess: boolean
  /** `start` honours `claim`. */
  readonly claims: boolean
  /** The log has `approvals`. @default false */
  readonly approvals?: boolean
  /** The log has `state`. @default false */
  readonly state?: boolean
  /** The log has `runs`. @default false */
  readonly runs?: boolean
  /** The log has `beginAttempt`, and `start` refuses earlier attempts. @default false */
  readonly attempts?: boolean
  /** The log has `listRuns`, `search` and `version`, for programs that show it. @default false */
  readonly browsing?: boolean
}

/**
 * Where tool calls are journaled. The start row is committed before the effect: `start` resolves
 * only when the row is stored. An adapter depends on these types and on nothing else of this package.
 */
export interface ToolCallLog {
  readonly name: string
  readonly capabilities: ToolCallLogCapabilities
  /** Absolute paths of the files that hold the log. Tools deny them when they are beneath their root. @default none */
  readonly files?: readonly string[]
  /** Requests for approval. A tool that needs approval cannot run with a log that lacks them. */
  readonly approvals?: ApprovalStore
  /** Small values of runs, such as the plan of an agent. */
  readonly state?: RunStateStore
  /** Runs of workflows. Without them a workflow that uses the log cannot be resumed. */
  readonly runs?: RunStore
  /**
   * The current time by a clock that all users of the log share: milliseconds since the epoch. Leases, expiry and the
   * times of rows are told by it, so that machines whose clocks differ judge alike. Answers at once.
   *
   * @default Date.now
   */
  now?(): number
  /**
   * Begins an attempt of a task, or continues it: from now on `start` answers `'superseded'` to every earlier attempt of the
   * task, whose worker may be late and not know that it was given up. `'superseded'` when a later attempt has begun.
   *
   * What `start` accepted of an earlier attempt can be listed once this has answered. An attempt that was not begun is
   * refused only once a later one has been. Only for a log with `capabilities.attempts`.
   */
  beginAttempt?(attempt: TaskAttempt): MaybePromise<'ok' | 'superseded'>
  /**
   * Stores a `'started'` row and, when asked, claims its key in the same transaction. A key that is in flight under
   * either kind of claim is `'claimed'`, also for an orphan: only `finish` and `recover` end a claim, so that nobody
   * takes over a call without first seeing that its outcome is unknown. A claim on a row without a key claims nothing.
   */
  start(row: StartRow, options: StartOptions): MaybePromise<StartResult>
  /** Finishes the row with this token; `'fenced'` when there is none or it has already finished. */
  finish(callToken: string, patch: FinishPatch): MaybePromise<'ok' | 'fenced'>
  /** Prolongs the lease of a running row; false when the row has finished or is unknown. */
  renew(callToken: string, leaseExpiresAtMs: number): MaybePromise<boolean>
  /**
   * Rows in order: by attempt and seq when `runId`, `nodeId` and `iteration` are all given, else by start time and
   * seq; `callToken` breaks ties.
   */
  list(query: ToolCallQuery): MaybePromise<ToolCallRow[]>
  /**
   * The newest runs with counts of their calls, those of the store of runs and those that exist only as calls. The time
   * it takes depends on the runs it returns, not on the size of the log.
   */
  listRuns?(query: LoggedRunQuery): MaybePromise<LoggedRun[]>
  /** Looks for texts in a bounded number of calls, ordered by start time, seq and token. */
  search?(search: CallSearch): MaybePromise<CallMatches>
  /** A text that differs after any process has committed a change to the log. It may differ without one. */
  version?(): MaybePromise<string>
  /**
   * Marks orphaned `'started'` rows as errors with an unknown outcome (`TOOL_OUTCOME_UNKNOWN`), which also ends their
   * claims; returns how many. `isOrphan` says which rows are orphans.
   */
  recover(query: RecoverQuery): MaybePromise<number>
  /**
   * Removes finished rows, never started ones; returns how many. A log with `approvals`, `state` or `runs` also removes
   * what belonged to them, as far as it was last changed before the oldest moment that is kept: an archived output and a
   * used approval go with the row of their call, everything else of a run with the run's last row, its tasks, inputs
   * and outputs and the begun attempts included.
   *
   * An open run keeps all its rows unless `runs` names it, because a later attempt must know what earlier ones did: a
   * recorded run that has not finished, and a run with an approval that is pending, or approved and unused.
   */
  prune(query: PruneQuery): MaybePromise<number>
  /** Flushes and releases the log. A later `start` rejects. */
  close(): MaybePromise<void>
}
