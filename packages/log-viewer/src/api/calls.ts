import type { RunSummary } from './runs.ts'

/**
 * `GET /api/timeline?runId=…&limit=100`: the frame of a run and its first calls at once. Without `runId`, of the run with
 * the newest call: what the page opens with.
 */
export interface TimelineResponse {
  /** Null for a log without runs. */
  readonly run: RunResponse | null
  /** Null when `run` is. */
  readonly calls: CallsResponse | null
}

/**
 * `GET /api/run?runId=…`: everything about a run but its calls: enough to lay out the whole timeline before the first
 * call has arrived.
 */
export interface RunResponse {
  readonly run: RunSummary
  /** In the order of the timeline. The calls of the run are numbered through all groups, from 0. */
  readonly groups: readonly CallGroup[]
  /** The span of the axis: the earliest and the latest moment of any segment of the run. Milliseconds since the epoch. */
  readonly fromMs: number
  readonly toMs: number
  /** Calls of the run that are not in `groups`, because it has more than the viewer keeps: the oldest ones. */
  readonly leftOut: number
  readonly version: string
}

/** The calls of one attempt of one task in one iteration. */
export interface CallGroup {
  /** The same for this group in every answer. */
  readonly id: string
  readonly nodeId: string
  readonly iteration: number
  readonly attempt: number
  /** Position of its first call among the calls of the run, from 0. */
  readonly first: number
  readonly count: number
  readonly startedAtMs: number
  /** Null while the attempt runs. */
  readonly finishedAtMs: number | null
  readonly end: AttemptEnd
  readonly counts: OutcomeCounts
}

/** Why an attempt ended. */
export interface AttemptEnd {
  /**
   * `'running'`: it has not ended. `'finished'`, `'failed'`, `'interrupted'`: recorded by the workflow. `'lost'`: its
   * process ended in a call. `'waiting'`: a call waits for approval. `'unrecorded'`: only the calls are recorded, and none
   * of them says why the attempt ended.
   */
  readonly kind:
    | 'running'
    | 'finished'
    | 'failed'
    | 'interrupted'
    | 'lost'
    | 'waiting'
    | 'unrecorded'
  /** One sentence, plain text. */
  readonly text: string
  /** The stable code of the error, if there was one. */
  readonly code: string | null
}

/** How many calls ended how. An outcome that did not occur is left out. */
export type OutcomeCounts = Readonly<Partial<Record<CallOutcome, number>>>

/**
 * How a call ended. Exactly one applies.
 *
 * - `ok`: it returned.
 * - `failed`: it ended with an error.
 * - `refused`: a guard stopped it before it had an effect.
 * - `running`: it has not ended.
 * - `unknown`: the record of its end is missing. It may have taken effect.
 * - `replayed`: it returned the output of an earlier call (`replayOf`).
 * - `cached`: it returned the output of an equal call from the tool's cache.
 * - `fenced`: another worker took it over while it ran.
 * - `waiting`: it waits for approval. It has not run.
 */
export type CallOutcome =
  | 'ok'
  | 'failed'
  | 'refused'
  | 'running'
  | 'unknown'
  | 'replayed'
  | 'cached'
  | 'fenced'
  | 'waiting'

/**
 * `GET /api/calls?runId=…&limit=200` with `cursor=…` (the next page) or `from=N` (the calls from position N on, for a
 * jump): a page of calls in the order of the timeline.
 */
export interface CallsResponse {
  /** Position of the first one among the calls of the run, from 0. */
  readonly from: number
  /** How many calls the run has now. */
  readonly total: number
  readonly calls: readonly CallSummary[]
  readonly nextCursor: string | null
  readonly version: string
}

/** One line of the timeline. */
export interface CallSummary {
  /** Identifies the call in every request. */
  readonly callToken: string
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  readonly attempt: number
  readonly seq: number
  readonly toolName: string
  /** One line of plain text about the arguments, at most 200 characters. It may hold any character: escape controls. */
  readonly summary: string
  readonly outcome: CallOutcome
  readonly effect: 'none' | 'applied' | 'unknown' | null
  readonly sideEffect: boolean
  /** The code of the error, or its name. */
  readonly errorCode: string | null
  readonly startedAtMs: number
  readonly finishedAtMs: number | null
  /** What its bar is made of, in order of time; at least one. */
  readonly segments: readonly CallSegment[]
}

/** A part of a call's bar. */
export interface CallSegment {
  /** `'approval'`: waited for a decision. `'claim'`: waited for an equal call to end. `'run'`: ran. */
  readonly kind: 'approval' | 'claim' | 'run'
  readonly fromMs: number
  /** Null while it lasts. */
  readonly toMs: number | null
}
