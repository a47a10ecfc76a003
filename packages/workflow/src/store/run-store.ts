import type { MaybePromise } from '@smithers/tool-core'

/**
 * `'running'`: a process has it, or had it and was killed. `'finished'`, `'failed'`: ended. `'stopped'`: ended by its
 * own signal, as Ctrl-C does. All but `'finished'` can be resumed.
 */
export type RunStatus = 'running' | 'finished' | 'failed' | 'stopped'

/** One run of a workflow. */
export interface RunRow {
  readonly runId: string
  /** The workflow's name; null until it has been rendered. */
  readonly workflow: string | null
  readonly status: RunStatus
  /** The input as it was given, before its schema; null when it could not be recorded. */
  readonly inputJson: string | null
  /** The options that a resume takes over. */
  readonly optionsJson: string
  /** Why it failed. */
  readonly errorJson: string | null
  readonly startedAtMs: number
  readonly finishedAtMs: number | null
  /** `host:pid:startTime` of the process that has the run; null when none has. */
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
  /** Its place among the finished tasks of the run, from 1. */
  readonly place: number | null
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

/** Asks for a run, new or known. */
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
  /** Another process has the run, or this one in another call. */
  | { readonly ok: false; readonly run: RunRow }

/** Names an attempt and proves that the run is still held. */
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

/** How a run is left. */
export interface RunEnd {
  readonly runId: string
  readonly leaseToken: string
  readonly status: Exclude<RunStatus, 'running'>
  readonly errorJson: string | null
  readonly nowMs: number
}

/** `'lost'`: the lease has gone to somebody else, and nothing was written. */
export type Fenced = 'ok' | 'lost'

/**
 * Where runs of workflows are recorded, next to the tool-call log. Every change is committed before the method answers.
 *
 * A run is held by one process at a time, under a lease. The lease's token fences writes: a process that was thought
 * dead and comes back can change nothing.
 */
export interface RunStore {
  readonly name: string
  /** `durable`: runs survive `kill -9`. `multiProcess`: several processes may use it at once. */
  readonly capabilities: { readonly durable: boolean; readonly multiProcess: boolean }
  /**
   * Takes a run: creates it, or takes over one that nobody holds (no lease, an ended lease, or an owner known to be
   * dead), marking its running tasks and attempts `'interrupted'`. The recorded input is kept; a null one is filled in.
   */
  claim(request: ClaimRequest): MaybePromise<ClaimResult>
  /** Prolongs the lease. */
  renew(runId: string, leaseToken: string, leaseExpiresAtMs: number): MaybePromise<Fenced>
  /** Records the name of the run's workflow, known once it has been rendered. */
  nameWorkflow(runId: string, leaseToken: string, workflow: string): MaybePromise<Fenced>
  /** Ends the run and gives up the lease. */
  release(end: RunEnd): MaybePromise<Fenced>
  startAttempt(start: AttemptStart): MaybePromise<Fenced>
  finishAttempt(end: AttemptEnd): MaybePromise<Fenced>
  saveLoop(row: LoopRow, leaseToken: string): MaybePromise<Fenced>
  /** The newest first. @param query `limit` defaults to 100 */
  runs(query?: { readonly runId?: string; readonly limit?: number }): MaybePromise<RunRow[]>
  /** In the order in which they were started. */
  tasks(runId: string): MaybePromise<TaskRow[]>
  /** In the order in which they were started. */
  attempts(runId: string): MaybePromise<AttemptRow[]>
  loops(runId: string): MaybePromise<LoopRow[]>
  close(): MaybePromise<void>
}
