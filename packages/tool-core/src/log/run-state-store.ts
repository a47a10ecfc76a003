import type { MaybePromise } from '../async/maybe-promise.ts'

/** A value that a run keeps, such as the plan of its agent. */
export interface RunStateEntry {
  readonly runId: string
  readonly key: string
  /** From 1, and one more with every change. */
  readonly version: number
  readonly valueJson: string
  /** Milliseconds since the epoch. */
  readonly updatedAtMs: number
}

/**
 * Small values of a run, beside its tool calls and as durable as they are. An optional part of a log, declared as
 * `capabilities.state`.
 */
export interface RunStateStore {
  get(runId: string, key: string): MaybePromise<RunStateEntry | undefined>
  /**
   * Stores a value whose version is one more than the stored one's (1 when there is none), in one step; false when the
   * stored version is another, so that of many writers one wins.
   */
  set(entry: RunStateEntry): MaybePromise<boolean>
}
