import {
  type DefinedTool,
  defineTool,
  type DefineToolOptions,
  type GateOptions,
  SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import type { ZodType } from 'zod'
import { cloneArguments } from './clone-arguments.ts'
import { settleAfterAbort } from './settle-after-abort.ts'
import { errorOf } from './thrown-value.ts'
import { finalOutput } from './final-output.ts'

/** What a foreign object's function gets as its second parameter. */
export interface ForeignCall {
  readonly signal: AbortSignal
  readonly toolCallId: string
  /** Pass it to services that take one: the same for the same call in every attempt. */
  readonly idempotencyKey: string
}

/** A function of a foreign object that runs the tool. */
export type ForeignFunction = (args: never, call: never) => unknown

/**
 * A tool of another library: an object with a function that runs it. The first of `invoke`, `call`, `run`, `func` and
 * `_call` that it has is used. Gate options that it carries apply.
 */
export interface ForeignTool extends GateOptions<never> {
  readonly name?: string
  readonly description?: string
  /** A Zod 4 schema. */
  readonly schema?: unknown
  readonly invoke?: ForeignFunction
  readonly call?: ForeignFunction
  readonly run?: ForeignFunction
  readonly func?: ForeignFunction
  readonly _call?: ForeignFunction
}

/** What `defineTool` takes besides what a foreign tool says of itself. */
export type AdaptOptions = Partial<
  Omit<DefineToolOptions<ZodType, unknown>, 'execute' | 'warn'>
> & {
  readonly warn?: (message: string) => void
}

/**
 * Puts a foreign tool under the same gates, context and log as any other.
 *
 * Its effects are unknown, so it counts as a side effect that must not be repeated by accident, unless
 * `sideEffect` and `idempotent` say otherwise or it declares `cache`, which only fits a tool without effects.
 *
 * It gets arguments of its own, so that changing them changes nothing elsewhere. One that does not stop within a second
 * of being aborted is left to itself: its call fails with `TOOL_ABORTED`. A thrown value that is not an error becomes one,
 * `TOOL_FAILED`.
 *
 * @throws SmithersError `INVALID_TOOL` when it has no function, no name or no Zod 4 schema.
 */
export function adaptTool(
  foreign: ForeignTool,
  options: AdaptOptions = {},
): DefinedTool<unknown, unknown> {
  if (typeof foreign !== 'object' || foreign === null) {
    throw invalid('A foreign tool', `must be an object, got ${typeof foreign}.`)
  }
  const name = options.name ?? foreign.name
  if (typeof name !== 'string' || name === '') {
    throw invalid('A foreign tool', 'has no name. Give one: adaptTool(tool, { name }).')
  }
  const run = functionOf(foreign, name)
  const schema = options.schema ?? foreign.schema
  if (typeof schema !== 'object' || schema === null || !('_zod' in schema)) {
    throw invalid(
      `Foreign tool "${name}"`,
      'has no Zod 4 schema. Give one: adaptTool(tool, { schema: z.object({ … }) }).',
    )
  }
  const gates = gatesOf(foreign)
  const { cache = gates.cache } = options
  const { sideEffect = cache === undefined || cache === false } = options
  return defineTool({
    ...(foreign.description === undefined ? {} : { description: foreign.description }),
    ...gates,
    // The key is handed on.
    acceptsContext: true,
    ...options,
    name,
    schema: schema as ZodType,
    sideEffect,
    execute: async (args: unknown, ctx: ToolContext) => {
      const call = callOf(ctx)
      try {
        const work = finalOutput(run(cloneArguments(args), call))
        return await settleAfterAbort(work, { signal: call.signal, toolName: name })
      } catch (error) {
        throw errorOf(error, name)
      }
    },
  })
}

/** What a foreign function knows of the call. */
function callOf(ctx: ToolContext): ForeignCall {
  return {
    signal: ctx.abortSignal,
    toolCallId: ctx.toolCallId,
    idempotencyKey: ctx.idempotencyKey,
  }
}

const functionNames = ['invoke', 'call', 'run', 'func', '_call'] as const

function functionOf(
  foreign: ForeignTool,
  name: string,
): (args: unknown, call: ForeignCall) => unknown {
  for (const each of functionNames) {
    const found = foreign[each] as ((args: unknown, call: ForeignCall) => unknown) | undefined
    // Called as a method: its object is what it knows of itself.
    if (typeof found === 'function') return (args, call) => found.call(foreign, args, call)
  }
  throw invalid(`Foreign tool "${name}"`, `has none of the functions ${functionNames.join(', ')}.`)
}

/** True for an object that runs by one of the functions, and not by `execute`. */
export function isForeignTool(tool: unknown): tool is ForeignTool {
  if (typeof tool !== 'object' || tool === null) return false
  const found = tool as Readonly<Record<string, unknown>>
  return (
    typeof found['execute'] !== 'function' &&
    functionNames.some((name) => typeof found[name] === 'function')
  )
}

const gateNames = [
  'needsApproval',
  'approvalPrompt',
  'approvalDefaults',
  'approvalTtlMs',
  'maxExecutionsPerRun',
  'executionsCounted',
  'cache',
  'retry',
] as const

function gatesOf(foreign: ForeignTool): GateOptions<unknown> {
  const given = gateNames.flatMap((name) =>
    foreign[name] === undefined ? [] : [[name, foreign[name]]],
  )
  return Object.fromEntries(given) as GateOptions<unknown>
}

function invalid(who: string, what: string): SmithersError {
  return new SmithersError('INVALID_TOOL', `${who} ${what}`)
}
