import type { output as SchemaOutput, ZodType } from 'zod'
import { executeCall } from '../call/execute-call.ts'
import { takesContext, warnOnce } from '../call/definition-warning.ts'
import { markParsed, parsesOnce } from '../call/parsed-input.ts'
import { shownToModel, type ToModelOutput } from '../call/noted-output.ts'
import { executeStreamingCall } from '../call/streaming-call.ts'
import type { ModelBudget } from '../contract/model-budget.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { aiSdkFields } from '../contract/ai-sdk-fields.ts'
import {
  type DefineStreamingToolOptions,
  type DefineToolOptions,
  type ToolOptions,
  toolOptions,
} from './define-tool-options.ts'
import { OptionChecks, type Given } from '../contract/option-checks.ts'
import type { AnyDefinedTool, ToolOf } from '../contract/defined-tool.ts'
import { carryApproval } from '../approvals/approval-for.ts'
import { resolveGates } from './resolve-gates.ts'
import { withRetries } from '../gates/retry.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import { toolMetadata } from '../contract/tool-metadata.ts'
import { redefineKey } from './with-gates.ts'

/**
 * Makes an AI SDK tool whose calls are validated, keyed and journaled.
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
export function defineTool<
  Schema extends ZodType,
  Result,
  const Name extends string,
  Context = unknown,
>(options: ToolOptions<Schema, Result, Name, Context>): ToolOf<SchemaOutput<Schema>, Result, Name>
export function defineTool(
  options: DefineToolOptions<ZodType, unknown> | DefineStreamingToolOptions<ZodType, unknown>,
): AnyDefinedTool {
  const definition = resolveDefinition(options)
  warnOnce(options, definition)
  const { description = options.name, schema } = options
  const execute = definition.streams ? executeStreamingCall : executeCall
  const tool = {
    ...handedOn(options),
    toModelOutput: shownToModel(definition, options.toModelOutput as ToModelOutput | undefined),
    description,
    inputSchema: markParsed(schema),
    execute: (args: unknown, callOptions?: ToolCallOptions) =>
      execute(definition, args, callOptions),
    [toolMetadata]: definition.metadata,
    ...carryApproval(definition),
    // A workflow takes what such a call returns as the task's output.
    ...(definition.finalAnswer && { [Symbol.for('smithers.tool.finalAnswer')]: true }),
    [redefineKey]: (gates: object) => defineTool({ ...options, ...gates }),
  }
  return tool as unknown as AnyDefinedTool
}

function handedOn(options: object): object {
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => Object.hasOwn(aiSdkFields, name)),
  )
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
  const checks = new OptionChecks(options as unknown as Given, invalid)
  checks.known(toolOptions)
  if (typeof options.execute !== 'function') throw invalid('execute is not a function.')
  checkValues(checks)
  const streams = isAsyncGeneratorFunction(options.execute)
  const { gates, retry } = resolveGates(
    { name, sideEffect, idempotent, streams, takesKey: takesContext(options) },
    options,
    invalid,
  )
  const execute = options.execute as ToolDefinition['execute']
  return Object.freeze({
    metadata: Object.freeze({ name, sideEffect, idempotent }),
    effectScope: options.effectScope ?? 'external',
    schema,
    execute: retry === undefined ? execute : withRetries(name, retry, execute),
    streams,
    parsesOnce: parsesOnce(schema),
    key: options.key ?? 'call',
    onRetry: options.onRetry,
    verify: options.verify,
    timeoutMs,
    finalAnswer: options.finalAnswer ?? false,
    archivesOutput: options.archivesOutput ?? true,
    returnsWholeText: options.returnsWholeText ?? false,
    modelBudget: options.modelBudget && Object.freeze({ ...options.modelBudget }),
    gates,
    preview: options.approvalPreview,
    logInput: options.logInput,
    logOutput: options.logOutput,
    warn: options.warn ?? warnOnConsole,
  })
}

/** A value that is only nearly right, such as a truthy text or a misspelt mode, would lose the protection of a retry. */
function checkValues(checks: OptionChecks): void {
  checks.textOrFunction('description')
  checks.flags('sideEffect', 'idempotent', 'finalAnswer', 'archivesOutput', 'acceptsContext')
  checks.flags('returnsWholeText')
  checks.oneOf('effectScope', ['workspace', 'external'], 'function')
  checks.oneOf('key', ['call', 'task'], 'function')
  checks.oneOf('onRetry', ['rerun', 'reuse', 'warn', 'block'])
  checks.functions('verify', 'logInput', 'logOutput', 'warn')
  checks.synchronous('effectScope', 'key', 'logInput', 'logOutput')
  checks.duration('timeoutMs', 'more than 0')
  checks.fits('modelBudget', 'an object with maxBytes and maxLines from 1', isModelBudget)
}

function isModelBudget(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { maxBytes, maxLines, advice, ...unknown } = value as ModelBudget
  const limits = [maxBytes, maxLines].filter((limit) => limit !== undefined)
  const isText = advice === undefined || typeof advice === 'string'
  return isText && limits.every((limit) => limit >= 1) && Object.keys(unknown).length === 0
}

function warnOnConsole(message: string): void {
  console.warn(message)
}

function isAsyncGeneratorFunction(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]'
}
