import type { ZodType } from 'zod'
import type { GateSettings } from './gate-options.ts'
import type { EffectScope } from '../log/tool-call-row.ts'
import type { ModelBudget } from './model-budget.ts'
import type { ToolMetadata } from './tool-metadata.ts'
import type { ToolContext } from './task-context.ts'
import type { TaskContext } from './task-context.ts'

/** How a repeated call of an earlier attempt is treated. */
export type OnRetry = 'rerun' | 'reuse' | 'warn' | 'block'

/** What an earlier attempt left of the same call. */
export interface PriorCall {
  readonly idempotencyKey: string | null
  readonly attempt: number
  readonly startedAtMs: number
  /** `'unknown'`: it started, and its end was not recorded. */
  readonly outcome: 'success' | 'error' | 'unknown'
  /** The recorded arguments as JSON. */
  readonly inputJson: string | null
  readonly errorJson: string | null
}

/** What `verify` found out about an earlier call. */
export type Verification<Output> =
  | { readonly happened: true; readonly output: Output }
  | { readonly happened: false }
  | { readonly happened: 'unknown' }

/** The key of a call: its own, the task's, or made from what the function returns. */
export type KeyOption<Args> = 'call' | 'task' | ((args: Args, ctx: KeyContext) => unknown)

/** What a `key` function knows of the task. */
export interface KeyContext {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  readonly toolName: string
}

/** A tool as its calls need it: every option resolved. */
export interface ToolDefinition {
  readonly metadata: ToolMetadata
  readonly effectScope: EffectScope | ((task: TaskContext) => EffectScope)
  readonly schema: ZodType
  readonly execute: (args: unknown, ctx: ToolContext) => unknown
  readonly streams: boolean
  /** What its schema parsed must not be parsed again. */
  readonly parsesOnce: boolean
  readonly key: KeyOption<unknown>
  readonly onRetry: OnRetry | undefined
  readonly verify:
    | ((args: unknown, prior: PriorCall, ctx: ToolContext) => MaybeVerification)
    | undefined
  readonly timeoutMs: number | undefined
  readonly finalAnswer: boolean
  readonly archivesOutput: boolean
  readonly returnsWholeText: boolean
  readonly modelBudget: ModelBudget | undefined
  /** Undefined for a tool without any, which pays nothing for them. */
  readonly gates: GateSettings | undefined
  /** Shows what a call would change, also of a tool that needs no approval. */
  readonly preview: ((args: unknown, ctx: ToolContext) => unknown) | undefined
  readonly logInput: ((args: unknown) => unknown) | undefined
  readonly logOutput: ((output: unknown) => unknown) | undefined
  readonly warn: (message: string) => void
}

type MaybeVerification = Verification<unknown> | PromiseLike<Verification<unknown>>
