/** Names a task in one iteration of a run. */
export interface TaskAddress {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
}

/** An event of `runTask`. */
export type TaskEvent = TaskAddress & { readonly attempt: number } & (
    | { readonly type: 'attempt-start'; readonly warned: boolean }
    /** Text of the agent between its calls; for a task without `output`, its last text too. */
    | { readonly type: 'text'; readonly text: string }
    /** The answer did not match the schema, and the agent is asked again. */
    | { readonly type: 'repair'; readonly repair: number; readonly problem: string }
    | { readonly type: 'attempt-end'; readonly repairs: number }
    | {
        readonly type: 'attempt-error'
        readonly error: unknown
        /** Delay before the next attempt, in milliseconds; null when it was the last. */
        readonly retryInMs: number | null
      }
  )

/** An event of `runWorkflow`. */
export type WorkflowEvent =
  | {
      readonly type: 'run-start'
      readonly runId: string
      /** The workflow's name; null until it has been rendered once. */
      readonly workflow: string | null
      /** The run began in an earlier call. */
      readonly resumed: boolean
      /** Number of tasks that had already finished. */
      readonly finishedTasks: number
    }
  | (TaskAddress & { readonly type: 'task-start'; readonly id: string })
  | TaskEvent
  | (TaskAddress & { readonly type: 'task-end'; readonly id: string; readonly output: unknown })
  | (TaskAddress & { readonly type: 'task-error'; readonly id: string; readonly error: unknown })
  | {
      readonly type: 'loop-iteration'
      readonly runId: string
      readonly loopId: string
      readonly iteration: number
    }
  | { readonly type: 'run-end'; readonly runId: string }
  | { readonly type: 'run-error'; readonly runId: string; readonly error: unknown }
