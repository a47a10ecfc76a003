import type { ToolCallLog, ToolRunOptions } from '@smithers/tool-core'
import type { WorkflowEvent } from '../events/workflow-event.ts'
import { type TaskToolOptions, toolOptionNames } from '../task/tool-options.ts'
import { assertKnownOptions } from '../values/known-names.ts'
import type { RecordedNetworkOptions } from './network-of-run.ts'
import type { ProgramFiles } from './program-files.ts'

/** Options of {@link runWorkflow}. On a resume, options left out keep the values that the run began with. */
export interface RunWorkflowOptions<Input = unknown> extends Omit<TaskToolOptions, 'log'> {
  /** Validated by the schema `input` of `createSmithers`. @default {}, or on a resume the recorded input */
  readonly input?: Input
  /** An id in the log resumes that run; a new one names a new run. @default a random UUID */
  readonly runId?: string
  /** The folder that tools work in. @default the folder of the file that defines the workflow */
  readonly rootDir?: string
  /**
   * Records the run and its tool calls. A run can be resumed only with a log whose `capabilities.runs` is true.
   *
   * @default the SQLite file that `defaultLogPath(…)` of `@smithers/log-sqlite` names for the folder of the workflow's file:
   *   in the state directory of the project, outside the root
   */
  readonly log?: ToolCallLog | undefined
  /** The file that defines the workflow. Recorded with the run, so that another process can resume it. */
  readonly source?: string
  /**
   * The files that make up the workflow, with the SHA-256 of their contents. Recorded with the run, and protected from its
   * tools: a resume executes them outside the sandbox.
   *
   * @default the file that called `smithers(…)`
   */
  readonly program?: ProgramFiles
  /**
   * Resumes a run although its workflow has changed since the run began. Without it, such a resume is refused with
   * `WORKFLOW_CHANGED`.
   *
   * @default false
   */
  readonly acceptChangedWorkflow?: boolean
  /**
   * Resumes a run with a `network` or `allowNetwork` by which it reaches more than before. Without it, such a resume is
   * refused with `INVALID_INPUT`.
   *
   * @default false
   */
  readonly acceptWiderNetwork?: boolean
  /** Pause before the first retry of a task, in milliseconds; doubles with each, up to a minute. @default 1_000 */
  readonly backoffMs?: number
  /** Stops the run; it can be resumed. */
  readonly signal?: AbortSignal
  /** Receives every event, in order. Its errors are ignored. */
  readonly onEvent?: (event: WorkflowEvent) => unknown
}

/** What {@link runWorkflow} resolves to. */
export interface WorkflowResult<Outputs extends object = object> {
  readonly runId: string
  readonly status: 'finished'
  /** By the output's name. When several tasks share one, the last to finish. */
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

/** The options that a resume inherits from the run, as JSON. */
export type RecordedOptions = Pick<
  RunWorkflowOptions,
  | 'rootDir'
  | 'maxOutputBytes'
  | 'toolTimeoutMs'
  | 'isolation'
  | 'namespace'
  | 'keyScope'
  | 'safety'
  | 'recordContents'
  | 'source'
  | 'program'
> &
  RecordedNetworkOptions

/** The options to record: those given, or those recorded earlier. */
export function mergeOptions(
  given: RunWorkflowOptions,
  recorded: RecordedOptions,
): Omit<RecordedOptions, keyof RecordedNetworkOptions> {
  return {
    rootDir: given.rootDir ?? recorded.rootDir,
    maxOutputBytes: given.maxOutputBytes ?? recorded.maxOutputBytes,
    toolTimeoutMs: given.toolTimeoutMs ?? recorded.toolTimeoutMs,
    isolation: given.isolation ?? recorded.isolation,
    namespace: given.namespace ?? recorded.namespace,
    keyScope: given.keyScope ?? recorded.keyScope,
    safety: given.safety ?? recorded.safety,
    recordContents: given.recordContents ?? recorded.recordContents,
    source: given.source ?? recorded.source,
  } as Omit<RecordedOptions, keyof RecordedNetworkOptions>
}

/** The options of a workflow that its tools do not have. */
const ownOptionNames: Readonly<
  Record<Exclude<keyof RunWorkflowOptions, keyof TaskToolOptions> | 'toolTimeoutMs' | 'allow', true>
> = {
  input: true,
  runId: true,
  source: true,
  program: true,
  acceptChangedWorkflow: true,
  acceptWiderNetwork: true,
  backoffMs: true,
  signal: true,
  onEvent: true,
  toolTimeoutMs: true,
  allow: true,
}

/**
 * Refuses options that `runWorkflow` does not have.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function assertWorkflowOptions(options: RunWorkflowOptions): void {
  assertKnownOptions('runWorkflow', options, { ...ownOptionNames, ...toolOptionNames })
}

/** The options with which the context of a tool is created. */
export function optionsForTools(options: RunWorkflowOptions): ToolRunOptions {
  const forTools = Object.entries(options).filter(([name]) => !Object.hasOwn(ownOptionNames, name))
  return { ...Object.fromEntries(forTools), timeoutMs: options.toolTimeoutMs }
}
