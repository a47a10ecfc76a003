import type { ToolCallLog, ToolRunOptions } from '@smithers/tool-core'
import type { WorkflowEvent } from '../events/workflow-event.ts'
import type { TaskToolOptions } from '../task/run-task.ts'

/** Options of {@link runWorkflow} (S1 §Configuration). On a resume, options left out are as the run was begun with. */
export interface RunWorkflowOptions<Input = unknown> extends Omit<TaskToolOptions, 'log'> {
  /** Validated by the schema `input` of `createSmithers`. @default {}, or on a resume the recorded input */
  readonly input?: Input
  /** A known id resumes that run; a new one names a new run. @default a random UUID */
  readonly runId?: string
  /** The folder that tools work in. @default the folder of the file that defines the workflow */
  readonly rootDir?: string
  /**
   * Records the run and its tool calls. A run can be resumed only with a log whose `capabilities.runs` is true.
   *
   * @default a log in memory, which ends with this call
   */
  readonly log?: ToolCallLog
  /** Kept with the run: for whoever resumes it, the file that defines the workflow. */
  readonly source?: string
  /** Pause before the first retry of a task, in milliseconds; doubles with each, up to a minute. @default 1_000 */
  readonly backoffMs?: number
  /** Stops the run; it can be resumed. */
  readonly signal?: AbortSignal
  /** Told of everything that happens, in order. Its errors change nothing. */
  readonly onEvent?: (event: WorkflowEvent) => unknown
}

/** What {@link runWorkflow} resolves to. */
export interface WorkflowResult<Outputs extends object = object> {
  readonly runId: string
  readonly status: 'finished'
  /** By the output's name; of several tasks with one output, that of the last to finish. */
  readonly outputs: { readonly [Name in keyof Outputs]?: Outputs[Name] }
  /** Every finished task, in the order in which they finished. */
  readonly tasks: readonly FinishedTaskResult[]
}

/** One finished task of a run. */
export interface FinishedTaskResult {
  readonly id: string
  readonly iteration: number
  /** The attempt that succeeded, from 1. */
  readonly attempt: number
  readonly output: unknown
}

/** What a resume takes over from the run, as JSON. */
export type RecordedOptions = Pick<
  RunWorkflowOptions,
  | 'rootDir'
  | 'allowNetwork'
  | 'maxOutputBytes'
  | 'toolTimeoutMs'
  | 'isolation'
  | 'namespace'
  | 'keyScope'
  | 'safety'
  | 'source'
>

/** The options to record: those given, else those recorded before. */
export function mergeOptions(
  given: RunWorkflowOptions,
  recorded: RecordedOptions,
): RecordedOptions {
  return {
    rootDir: given.rootDir ?? recorded.rootDir,
    allowNetwork: given.allowNetwork ?? recorded.allowNetwork,
    maxOutputBytes: given.maxOutputBytes ?? recorded.maxOutputBytes,
    toolTimeoutMs: given.toolTimeoutMs ?? recorded.toolTimeoutMs,
    isolation: given.isolation ?? recorded.isolation,
    namespace: given.namespace ?? recorded.namespace,
    keyScope: given.keyScope ?? recorded.keyScope,
    safety: given.safety ?? recorded.safety,
    source: given.source ?? recorded.source,
  } as RecordedOptions
}

/** The options without those of the run itself: what the context of a tool is made with. */
export function optionsForTools(options: RunWorkflowOptions): ToolRunOptions {
  const own = Object.fromEntries(ownOptions.map((name) => [name, undefined]))
  return { ...options, ...own, timeoutMs: options.toolTimeoutMs }
}

const ownOptions = [
  'input',
  'source',
  'toolTimeoutMs',
  'backoffMs',
  'signal',
  'onEvent',
  'allow',
] as const satisfies readonly (keyof RunWorkflowOptions)[]
