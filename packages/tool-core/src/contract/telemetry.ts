import type { FinishPatch, StartRow } from '../log/tool-call-log.ts'

/** What a call is, before anything of it is stored. */
export type TracedCall = Pick<
  StartRow,
  | 'runId'
  | 'nodeId'
  | 'iteration'
  | 'attempt'
  | 'toolName'
  | 'toolCallId'
  | 'callToken'
  | 'sideEffect'
  | 'idempotent'
>

/**
 * How a call ended, for those who watch. `'unknown'`: it was cut off and may have taken effect. `'refused'`: the tool did
 * not run. `'waiting'`: it waits for approval. `'replayed'`: it was answered from an earlier call; `'cached'`: from an equal call of its run. `'fenced'`: another
 * worker had taken it over.
 */
export type TracedOutcome =
  | 'success'
  | 'error'
  | 'unknown'
  | 'refused'
  | 'waiting'
  | 'replayed'
  | 'cached'
  | 'fenced'

/** A call that is over. */
export interface FinishedCall {
  readonly row: StartRow
  /** What the log got; null when it got nothing, because it failed. */
  readonly patch: FinishPatch | null
  readonly outcome: TracedOutcome
  /** The code of the error, if it has one. */
  readonly errorCode: string | null
  /** Whether the tool ran. */
  readonly ran: boolean
  /** How long the log took to store the end, in milliseconds; null when nothing was stored. */
  readonly logWriteMs: number | null
}

/** What happens to a call between its begin and its end. Durations are milliseconds. */
export interface CallTelemetryEvents {
  /** The start row is stored. */
  started: {
    readonly seq: number
    readonly idempotencyKey: string | null
    readonly logWriteMs: number
  }
  /** Another call held the key; this one waited for its outcome. */
  'claim-wait': { readonly waitMs: number }
  'approval-requested': { readonly approvalId: string }
  'approval-decided': {
    readonly approvalId: string
    readonly approved: boolean
    readonly decidedBy: string | null
    readonly waitMs: number
  }
  /** The tool's function failed and is tried again. */
  retry: { readonly tries: number; readonly delayMs: number }
  /** The tool was asked what became of an earlier call. */
  verify: { readonly answer: 'happened' | 'did not happen' | 'unknown' }
  /** An earlier call of the same key, or the one that answered this call. */
  earlier: { readonly traceId: string; readonly spanId: string; readonly attempt: number }
}

/** W3C trace context, as environment variables and headers carry it. */
export interface TraceContext {
  readonly traceparent?: string
  readonly tracestate?: string
}

/** Values of a part of a call, for those who watch. */
export type PartAttributes = Readonly<Record<string, string | number | boolean>>

/** A part of a call that is watched by itself, such as a command. */
export interface PartTelemetry {
  readonly traceContext: TraceContext
  end(end: { readonly attributes: PartAttributes; readonly failed: boolean }): void
}

/** Watches one call. */
export interface CallTelemetry {
  /** The row of the call gets it. */
  readonly traceId: string | null
  readonly spanId: string | null
  /** Runs `fn` with the span of the call as the active one: gates, claim and tool. */
  run<Result>(fn: () => Result): Result
  event<Name extends keyof CallTelemetryEvents>(name: Name, event: CallTelemetryEvents[Name]): void
  beginPart?(name: string, attributes: PartAttributes): PartTelemetry | undefined
  end(call: FinishedCall): void
}

/** A workflow, or one attempt of one of its tasks. */
export type TracedWork =
  | { readonly kind: 'workflow'; readonly name: string | null; readonly runId: string }
  | {
      readonly kind: 'task'
      readonly runId: string
      readonly nodeId: string
      readonly iteration: number
      readonly attempt: number
    }

/** Watches a workflow or a task. */
export interface WorkTelemetry {
  run<Result>(fn: () => Result): Result
  /** The name of the workflow is known only now. */
  rename?(name: string): void
  /** `error` is what ended the work; undefined when it succeeded. */
  end(error: unknown): void
}

/**
 * Watches calls. It is asked once a call, before anything is stored. Nothing that it throws changes a call: the first
 * error of each object is a warning of the process, later ones are ignored.
 */
export interface ToolTelemetry {
  beginCall(call: TracedCall): CallTelemetry | undefined
  /** Workflows and tasks of `runWorkflow`. */
  beginWork?(work: TracedWork): WorkTelemetry | undefined
}

const registered: unique symbol = Symbol.for('smithers.tool.telemetry') as never

// Copies of this package share what is registered.
const shared = globalThis as { [registered]?: ToolTelemetry | undefined }

/**
 * Lets `telemetry` watch all calls of this process whose run names no other (`createToolRun({ telemetry })`). It takes the
 * place of what was registered before.
 *
 * @returns a function that ends it
 * @example
 * registerToolTelemetry(openTelemetry())
 */
export function registerToolTelemetry(telemetry: ToolTelemetry): () => void {
  shared[registered] = telemetry
  return () => {
    if (shared[registered] === telemetry) shared[registered] = undefined
  }
}

/** What watches calls of runs that name nothing. */
export function registeredTelemetry(): ToolTelemetry | undefined {
  return shared[registered]
}
