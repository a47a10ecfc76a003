import type { MaybePromise } from '../async/maybe-promise.ts'

/**
 * `'queued'`: waits for a worker, new or to go on. `'running'`: a process holds it, or held it and was killed.
 * `'waiting'`: it goes on once an approval is decided. `'finished'`, `'failed'`: ended. `'stopped'`: ended by its own
 * signal, as Ctrl-C does. All but `'finished'` can be resumed.
 */
export type RunStatus = 'queued' | 'running' | 'waiting' | 'finished' | 'failed' | 'stopped'

/** One run of a workflow. */
export interface RunRow {
  readonly runId: string
  /** The workflow's name; null until it has been rendered. */
  readonly workflow: string | null
  readonly status: RunStatus
  /** The input as given, before its schema was applied; null when it could not be recorded. */
  readonly inputJson: string | null
  /** The options that a resume inherits. */
  readonly optionsJson: string
  /** The failure. */
  readonly errorJson: string | null
  readonly startedAtMs: number
  readonly finishedAtMs: number | null
  /** `host:pid:startTime` of the process that holds the run; null when none does. */
  readonly ownerId: string | null
  readonly leaseToken: string | null
  readonly leaseExpiresAtMs: number | null
}

/** One task of a run, in one iteration. */
export interface TaskRow {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  /** The id in the tree; `nodeId` differs from it in nested loops. */
  readonly taskId: string
  /** The name of its output. */
  readonly outputName: string | null
  readonly status: 'running' | 'finished' | 'failed' | 'interrupted'
  /** The number of its last attempt. */
  readonly attempt: number
  readonly outputJson: string | null
  readonly errorJson: string | null
  readonly startedAtMs: number
  readonly finishedAtMs: number | null
  /** Its position among the finished tasks of the run, from 1. */
  readonly finishOrder: number | null
}

/** One attempt of a task. */
export interface AttemptRow {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  readonly attempt: number
  readonly status: 'running' | 'finished' | 'failed' | 'interrupted'
  readonly startedAtMs: number
  readonly finishedAtMs: number | null
  readonly errorJson: string | null
}

/** How far a loop has come. */
export interface LoopRow {
  readonly runId: string
  readonly loopId: string
  readonly iteration: number
  readonly finished: boolean
}

/** A request to hold a run, new or recorded. */
export interface ClaimRequest {
  readonly runId: string
  readonly inputJson: string | null
  readonly optionsJson: string
  readonly ownerId: string
  readonly leaseToken: string
  readonly leaseExpiresAtMs: number
  readonly nowMs: number
}

export type ClaimResult =
  | { readonly ok: true; readonly created: boolean; readonly run: RunRow }
  /** Another process holds the run, or another call in this process. */
  | { readonly ok: false; readonly run: RunRow }

/** Identifies an attempt; the lease token proves that the caller still holds the run. */
export interface AttemptStart {
  readonly runId: string
  readonly leaseToken: string
  readonly nodeId: string
  readonly iteration: number
  readonly taskId: string
  readonly outputName: string | null
  readonly attempt: number
  readonly nowMs: number
}

export interface AttemptEnd {
  readonly runId: string
  readonly leaseToken: string
  readonly nodeId: string
  readonly iteration: number
  readonly attempt: number
  readonly status: 'finished' | 'failed' | 'interrupted'
  readonly outputJson: string | null
  readonly errorJson: string | null
  readonly nowMs: number
}

/** How a run ended, or how its holder left it: `'queued'` for a worker, or `'waiting'`. */
export interface RunEnd {
  readonly runId: string
  readonly leaseToken: string
  readonly status: Exclude<RunStatus, 'running'>
  readonly errorJson: string | null
  readonly nowMs: number
}

/** Which runs to list; an empty query matches every run. */
export interface RunQuery {
  readonly runId?: string
  /** At most this many. @default 100 */
  readonly limit?: number
}

/** `'lost'`: another process holds the run, and nothing was written. */
export type Fenced = 'ok' | 'lost'

/**
 * The runs of workflows, as durable as the tool calls beside them. An optional part of a log, declared as
 * `capabilities.runs`. Every change is committed before the method answers.
 *
 * One process at a time holds a run, under a lease. Writes carry the lease's token, so a process that lost its lease
 * can change nothing.
 */
export interface RunStore {
  /** As `now` of the log. @default Date.now */
  now?(): number
  /**
   * Creates a run, or takes over one without a live holder (no lease, an expired lease, or a dead owner) and marks its
   * running tasks and attempts `'interrupted'`. Keeps the recorded input; fills in a null one.
   */
  claim(request: ClaimRequest): MaybePromise<ClaimResult>
  /** Prolongs the lease. */
  renew(runId: string, leaseToken: string, leaseExpiresAtMs: number): MaybePromise<Fenced>
  /** Records the name of the run's workflow, known once it has been rendered. */
  nameWorkflow(runId: string, leaseToken: string, workflow: string): MaybePromise<Fenced>
  /** Records the status of a run that its holder leaves, and gives up the lease. */
  release(end: RunEnd): MaybePromise<Fenced>
  startAttempt(start: AttemptStart): MaybePromise<Fenced>
  finishAttempt(end: AttemptEnd): MaybePromise<Fenced>
  saveLoop(row: LoopRow, leaseToken: string): MaybePromise<Fenced>
  /** Newest first. */
  list(query: RunQuery): MaybePromise<RunRow[]>
  /** In the order in which they were started. */
  tasks(runId: string): MaybePromise<TaskRow[]>
  /** In the order in which they were started. */
  attempts(runId: string): MaybePromise<AttemptRow[]>
  loops(runId: string): MaybePromise<LoopRow[]>
}
