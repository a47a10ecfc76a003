import type { output as SchemaOutput, ZodType } from 'zod'
import { executeCall } from './call/execute-call.ts'
import { takesContext, warnOnce } from './call/definition-warning.ts'
import { rememberEffectScope } from './call/effect-scope.ts'
import { markParsed } from './call/parsed-input.ts'
import { executeStreamingCall } from './call/streaming-call.ts'
import type {
  EffectScope,
  KeyOption,
  OnRetry,
  PriorCall,
  ToolDefinition,
  Verdict,
} from './call/tool-definition.ts'
import { carryApproval } from './gates/approval-for.ts'
import type { GateOptions } from './gates/gate-options.ts'
import { resolveGates } from './gates/resolve-gates.ts'
import { withRetries } from './gates/retry.ts'
import { redefineKey } from './with-gates.ts'
import { SmithersError } from './smithers-error.ts'
import type { ToolCallOptions } from './tool-call-options.ts'
import type { TaskContext, ToolContext } from './tool-context.ts'
import { toolMetadata, type ToolMetadata } from './tool-metadata.ts'

/** Fields of an AI SDK tool that are handed on as they are. Their types are the AI SDK's own. */
export interface PassedThroughFields {
  readonly outputSchema?: unknown
  readonly toModelOutput?: unknown
  readonly strict?: boolean
  readonly inputExamples?: readonly { readonly input: unknown }[]
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly contextSchema?: unknown
  readonly title?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly onInputStart?: (options: never) => void | PromiseLike<void>
  readonly onInputDelta?: (options: never) => void | PromiseLike<void>
  readonly onInputAvailable?: (options: never) => void | PromiseLike<void>
}

/** Options of {@link defineTool} but `execute`. */
export interface ToolSettings<Schema extends ZodType, Output, Name extends string = string>
  extends PassedThroughFields, GateOptions<SchemaOutput<Schema>> {
  /** Shown to the agent, `ctx.toolName`, and the default description. */
  readonly name: Name
  /** What the agent reads, or the AI SDK's function that makes it. @default name */
  readonly description?: string | ((options: never) => string)
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
   * also tells the agent), return the recorded output (`'reuse'`), or refuse until somebody decides (`'block'`).
   *
   * @default 'warn' for side effects that are not idempotent, else 'rerun'
   */
  readonly onRetry?: OnRetry
  /** Finds out whether an earlier call whose outcome is unknown took effect. */
  readonly verify?: (
    args: SchemaOutput<Schema>,
    prior: PriorCall,
    ctx: ToolContext,
  ) => Verdict<Output> | PromiseLike<Verdict<Output>>
  /** Milliseconds after which `ctx.abortSignal` is aborted and the call fails with `TOOL_TIMEOUT`. @default none */
  readonly timeoutMs?: number
  /** What the log, events and traces see of the input. */
  readonly logInput?: (args: SchemaOutput<Schema>) => unknown
  /** What the log, events and traces see of the output. The recorded output can then not be reused. */
  readonly logOutput?: (output: Output) => unknown
  /** A valid call ends the task: calls that the agent makes after it do not run. @default false */
  readonly endsTask?: boolean
  /** Whether the run's `maxInlineOutputBytes` applies. @default true */
  readonly archivesOutput?: boolean
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
> extends ToolSettings<Schema, Output, Name> {
  readonly execute: (args: SchemaOutput<Schema>, ctx: ToolContext) => PromiseLike<Output> | Output
}

/** Options of {@link defineTool} for a tool that streams: each yielded value is preliminary, the last is the output. */
export interface DefineStreamingToolOptions<
  Schema extends ZodType,
  Output,
  Name extends string = string,
> extends ToolSettings<Schema, Output, Name> {
  readonly execute: (args: SchemaOutput<Schema>, ctx: ToolContext) => AsyncGenerator<Output>
}

interface ToolFields<Input, Name extends string> {
  readonly description: string
  readonly inputSchema: ZodType<Input>
  readonly [toolMetadata]: ToolMetadata & { readonly name: Name }
}

/** A tool of the AI SDK (5, 6 and 7) that journals its calls. */
export interface DefinedTool<Input, Output, Name extends string = string> extends ToolFields<
  Input,
  Name
> {
  readonly execute: (args: Input, options: ToolCallOptions) => Promise<Output>
}

/** A {@link DefinedTool} that streams its output. */
export interface StreamingTool<Input, Output, Name extends string = string> extends ToolFields<
  Input,
  Name
> {
  readonly execute: (args: Input, options: ToolCallOptions) => AsyncGenerator<Output>
}

/** Any tool made with {@link defineTool}. */
export interface AnyDefinedTool {
  readonly description: string
  readonly inputSchema: ZodType
  readonly execute: (args: never, options: ToolCallOptions) => Promise<unknown> | AsyncGenerator
  readonly [toolMetadata]: ToolMetadata
}

/**
 * Makes an AI SDK tool whose calls are validated, keyed and journaled (S0 §defineTool).
 *
 * @throws SmithersError `INVALID_TOOL` for an empty name, a schema that is not Zod 4, or options that contradict each
 *   other.
 * @example
 * const placeOrder = defineTool({
 *   name: 'place_order',
 *   schema: z.object({ sku: z.string() }),
 *   sideEffect: true,
 *   idempotent: false,
 *   execute: ({ sku }, ctx) => shop.order(sku, { idempotencyKey: ctx.idempotencyKey }),
 * })
 */
export function defineTool<Schema extends ZodType, Output, const Name extends string>(
  options: DefineStreamingToolOptions<Schema, Output, Name>,
): StreamingTool<SchemaOutput<Schema>, Output, Name>
export function defineTool<Schema extends ZodType, Output, const Name extends string>(
  options: DefineToolOptions<Schema, Output, Name>,
): DefinedTool<SchemaOutput<Schema>, Output, Name>
export function defineTool(
  options: DefineToolOptions<ZodType, unknown> | DefineStreamingToolOptions<ZodType, unknown>,
): AnyDefinedTool {
  const definition = resolveDefinition(options)
  warnOnce(options, definition)
  rememberEffectScope(definition)
  const { description = options.name, schema, ...others } = options
  const execute = definition.streams ? executeStreamingCall : executeCall
  const tool = {
    ...omit(others, ownOptions),
    description,
    inputSchema: markParsed(schema),
    execute: (args: unknown, callOptions?: ToolCallOptions) =>
      execute(definition, args, callOptions),
    [toolMetadata]: definition.metadata,
    ...carryApproval(definition),
    [redefineKey]: (gates: object) =>
      defineTool({ ...options, ...gates } as DefineToolOptions<ZodType, unknown>),
  }
  return tool as unknown as AnyDefinedTool
}

// Every other option is a field of the AI SDK's tool and is handed on.
const ownOptions = new Set([
  'name',
  'sideEffect',
  'idempotent',
  'effectScope',
  'key',
  'onRetry',
  'verify',
  'timeoutMs',
  'needsApproval',
  'approvalPrompt',
  'approvalDefaults',
  'approvalTtlMs',
  'maxExecutionsPerRun',
  'executionsCounted',
  'cache',
  'retry',
  'logInput',
  'logOutput',
  'endsTask',
  'archivesOutput',
  'acceptsContext',
  'warn',
  'execute',
])

function omit(fields: object, names: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))
}

function resolveDefinition(
  options: DefineToolOptions<ZodType, unknown> | DefineStreamingToolOptions<ZodType, unknown>,
): ToolDefinition {
  const { name, schema, sideEffect = false, idempotent = !sideEffect, timeoutMs } = options
  if (typeof name !== 'string' || name.trim() === '') {
    throw new SmithersError('INVALID_TOOL', 'A tool needs a non-empty name.')
  }
  const invalid = (what: string): SmithersError =>
    new SmithersError('INVALID_TOOL', `Tool "${name}": ${what}`, { details: { toolName: name } })
  // A schema of Zod 3 has no `_zod`.
  if (typeof schema !== 'object' || schema === null || !('_zod' in schema)) {
    throw invalid('schema is not a Zod 4 schema. Pass one, for example z.object({ … }).')
  }
  if (typeof options.execute !== 'function') throw invalid('execute is not a function.')
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw invalid(`timeoutMs must be a positive number of milliseconds, got ${timeoutMs}.`)
  }
  if (options.onRetry !== undefined && !retryModes.has(options.onRetry)) {
    throw invalid(`onRetry must be one of ${[...retryModes].join(', ')}, got '${options.onRetry}'.`)
  }
  const streams = isAsyncGeneratorFunction(options.execute)
  const { gates, retry } = resolveGates(
    { name, sideEffect, idempotent, streams, takesKey: takesContext(options) },
    options,
  )
  const execute = options.execute as ToolDefinition['execute']
  return Object.freeze({
    metadata: Object.freeze({ name, sideEffect, idempotent }),
    effectScope: options.effectScope ?? 'external',
    schema,
    execute: retry === undefined ? execute : withRetries(name, retry, execute),
    streams,
    key: options.key ?? 'call',
    onRetry: options.onRetry,
    verify: options.verify,
    timeoutMs,
    endsTask: options.endsTask ?? false,
    archivesOutput: options.archivesOutput ?? true,
    gates,
    logInput: options.logInput,
    logOutput: options.logOutput,
    warn: options.warn ?? warnOnConsole,
  })
}

const retryModes: ReadonlySet<OnRetry> = new Set(['rerun', 'reuse', 'warn', 'block'])

function warnOnConsole(message: string): void {
  console.warn(message)
}

function isAsyncGeneratorFunction(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]'
}
