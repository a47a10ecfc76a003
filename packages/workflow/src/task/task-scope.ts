/** What the function inside a task receives. */
export interface TaskScope {
  readonly runId: string
  /** The task's name in the log. */
  readonly nodeId: string
  /** Iteration of the nearest loop, from 0. */
  readonly iteration: number
  /** From 1. */
  readonly attempt: number
  /** Aborted when the attempt times out or the run ends. */
  readonly signal: AbortSignal
}

/** Makes a prompt or an output at the start of an attempt. Tools called in it are journaled under the task. */
export type TaskFunction = (scope: TaskScope) => unknown
