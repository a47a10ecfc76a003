/** `GET /api/runs?limit=50&cursor=…`: the newest runs first. `GET /api/runs?runId=…`: that run alone, as a list of one. */
export interface RunsResponse {
  readonly runs: readonly RunSummary[]
  /** For the next page; null at the end. */
  readonly nextCursor: string | null
  /** The version of the log when this was read; see `ChangesResponse`. */
  readonly version: string
}

/** One run in the list. */
export interface RunSummary {
  readonly runId: string
  /** The workflow's name; null for a run that exists only as calls. */
  readonly name: string | null
  /** `'calls-only'`: the run store does not know the run, so only its calls tell of it. */
  readonly status: RunState
  readonly startedAtMs: number
  /** The end of the run; for a run that exists only as calls, of its last call. Null while it runs. */
  readonly finishedAtMs: number | null
  /** When its last call started; null for a run without calls. */
  readonly lastCallAtMs: number | null
  /** Why the run failed. Plain text. */
  readonly error: string | null
  readonly counts: RunCounts
}

export type RunState =
  | 'queued'
  | 'running'
  | 'waiting'
  | 'finished'
  | 'failed'
  | 'stopped'
  | 'calls-only'

/** What the badges of a run say. */
export interface RunCounts {
  readonly calls: number
  /** Calls without an end whose process may still work on them. */
  readonly running: number
  /** Calls whose record is missing: the process ended between the start and the end of the call. */
  readonly unknown: number
  /** Calls that ended with an error, without `unknown` and `refused`. */
  readonly failed: number
  /** Calls that a guard stopped: they had no effect. Null where the list would have to read every call to know. */
  readonly refused: number | null
  /** Requests for approval that wait for a decision. */
  readonly waits: number
}
