/** Where in a run something happened. */
export interface TaskAddress {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
}

/** What `onEvent` of `runTask` is told. */
export type TaskEvent = TaskAddress & { readonly attempt: number } & (
    | { readonly type: 'attempt-start'; readonly warned: boolean }
    /** What the agent says beside its calls; for a task without `output`, its last words too. */
    | { readonly type: 'text'; readonly text: string }
    /** The answer did not match the schema; the agent is asked again. */
    | { readonly type: 'repair'; readonly repair: number; readonly problem: string }
    | { readonly type: 'attempt-end'; readonly repairs: number }
    | {
        readonly type: 'attempt-error'
        readonly error: unknown
        /** When the next attempt begins, in milliseconds; null when there is none. */
        readonly retryInMs: number | null
      }
  )

/** What `onEvent` of `runWorkflow` is told, in the order in which it happens. */
export type WorkflowEvent =
  | {
      readonly type: 'run-start'
      readonly runId: string
      /** The workflow's name; null before it has ever been rendered. */
      readonly workflow: string | null
      /** The run has been begun before. */
      readonly resumed: boolean
      /** Tasks that had finished before. */
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
