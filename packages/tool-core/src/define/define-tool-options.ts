import type { output as SchemaOutput, ZodType } from 'zod'
import { type AiSdkFields, aiSdkFields } from '../contract/ai-sdk-fields.ts'
import type { KeyOption, OnRetry, PriorCall, Verification } from '../contract/tool-definition.ts'
import type { OutputOf } from '../contract/defined-tool.ts'
import type { GateOptions } from '../contract/gate-options.ts'
import type { ModelBudget } from '../contract/model-budget.ts'
import type { OptionNames } from '../contract/known-options.ts'
import type { EffectScope } from '../log/tool-call-row.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { TaskContext } from '../contract/task-context.ts'

/** Options of {@link defineTool} but `execute`. */
interface ToolSettings<Schema extends ZodType, Output, Name extends string, Context>
  extends AiSdkFields<Schema, Output, Context>, GateOptions<SchemaOutput<Schema>> {
  /** Shown to the agent, `ctx.toolName`, and the default description. */
  readonly name: Name
  /** Zod 4 schema of the input; `execute` gets the parsed value, also when it is called directly. */
  readonly schema: Schema
  /** The tool changes state outside the process. @default false */
  readonly sideEffect?: boolean
  /** Running it again with the same input is safe. @default !sideEffect */
  readonly idempotent?: boolean
  /**
   * Where the side effect lands, or a function of the task that says so. What lands in the workspace is visible with
   * `git diff` and gets one line in a retry warning.
   *
   * @default 'external'
   */
  readonly effectScope?: EffectScope | ((task: TaskContext) => EffectScope)
  /**
   * What the idempotency key is made from: the arguments (`'call'`), the task alone (`'task'`), or what the function
   * returns. Name the intent when arguments hold free text: `key: (order) => [order.id]`.
   *
   * @default 'call'
   */
  readonly key?: KeyOption<SchemaOutput<Schema>>
  /**
   * What to do with a call that an earlier attempt made: run it again with the same key (`'rerun'`, and `'warn'`, which
   * also tells the agent), return the recorded output (`'reuse'`), or refuse until the key is allowed (`'block'`).
   *
   * @default 'warn' for side effects that are not idempotent, else 'rerun'
   */
  readonly onRetry?: OnRetry
  /** Finds out whether an earlier call whose outcome is unknown took effect. */
  readonly verify?: (
    args: SchemaOutput<Schema>,
    prior: PriorCall,
    ctx: ToolContext<NoInfer<Context>>,
  ) => Verification<NoInfer<Output>> | PromiseLike<Verification<NoInfer<Output>>>
  /** Milliseconds after which `ctx.abortSignal` is aborted and the call fails with `TOOL_TIMEOUT`. @default none */
  readonly timeoutMs?: number
  /** What the log, events and traces see of the input. */
  readonly logInput?: (args: SchemaOutput<Schema>) => unknown
  /**
   * What the log, events and traces see of the output. The recorded output can then not be reused. Written after
   * `execute`, it knows the type of the output.
   */
  readonly logOutput?: (output: NoInfer<Output>) => unknown
  /** A valid call ends the task: calls that the agent makes after it do not run. @default false */
  readonly finalAnswer?: boolean
  /** Whether the run's `maxInlineOutputBytes` applies. @default true */
  readonly archivesOutput?: boolean
  /**
   * A text that the tool returns is not cut from a longer one. A log in memory then keeps the text itself and makes its
   * JSON when the row is read, which costs less than the rest of reading a large file. Of a text that was cut from a
   * longer one, all of the longer one would stay in memory.
   *
   * @default false
   */
  readonly returnsWholeText?: boolean
  /**
   * How much of a text the model reads, of errors too: the beginning and the end of longer ones, with a note between them.
   * What `execute` returns stays whole. When the run's `maxInlineOutputBytes` is set, that one counts instead; of a tool
   * whose outputs the run does not cut (it streams, has `logOutput` or `archivesOutput: false`, or the log has no state),
   * the smaller one counts.
   *
   * @default all of it
   */
  readonly modelBudget?: ModelBudget
  /** Silences the warning that `execute` does not take the context. @default false */
  readonly acceptsContext?: boolean
  /** Where warnings about the definition go. @default console.warn */
  readonly warn?: (message: string) => void
}

/** Options of {@link defineTool}. */
export interface DefineToolOptions<
  Schema extends ZodType,
  Output,
  Name extends string = string,
  Context = unknown,
> extends ToolSettings<Schema, Output, Name, Context> {
  readonly execute: (
    args: SchemaOutput<Schema>,
    ctx: ToolContext<NoInfer<Context>>,
  ) => PromiseLike<Output> | Output
}

/** Options of {@link defineTool} for a tool that streams: each yielded value is preliminary, the last is the output. */
export interface DefineStreamingToolOptions<
  Schema extends ZodType,
  Output,
  Name extends string = string,
  Context = unknown,
> extends ToolSettings<Schema, Output, Name, Context> {
  readonly execute: (
    args: SchemaOutput<Schema>,
    ctx: ToolContext<NoInfer<Context>>,
  ) => AsyncGenerator<Output>
}

/**
 * Options of {@link defineTool} as it infers from them: from what `execute` returns. Of two overloads, the first would
 * settle the types of the other functions' parameters before it is known which one is meant.
 */
export interface ToolOptions<
  Schema extends ZodType,
  Result,
  Name extends string,
  Context,
> extends ToolSettings<Schema, OutputOf<Result>, Name, Context> {
  readonly execute: (args: SchemaOutput<Schema>, ctx: ToolContext<NoInfer<Context>>) => Result
}

/** Every option of a tool. */
export const toolOptions: OptionNames<DefineToolOptions<ZodType, unknown>> = {
  name: true,
  description: true,
  schema: true,
  execute: true,
  sideEffect: true,
  idempotent: true,
  effectScope: true,
  key: true,
  onRetry: true,
  verify: true,
  timeoutMs: true,
  needsApproval: true,
  approvalPrompt: true,
  approvalDefaults: true,
  approvalPreview: true,
  approvalTtlMs: true,
  maxExecutionsPerRun: true,
  executionsCounted: true,
  cache: true,
  retry: true,
  logInput: true,
  logOutput: true,
  finalAnswer: true,
  archivesOutput: true,
  returnsWholeText: true,
  modelBudget: true,
  acceptsContext: true,
  warn: true,
  ...aiSdkFields,
}
