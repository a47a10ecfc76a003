import type { ZodType } from 'zod'
import { boundContext } from '../contract/tool-call-options.ts'
import { executeCall } from '../call/execute-call.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { invalidBefore, type ToolCallOptions } from '../contract/tool-call-options.ts'
import type { TaskContext } from '../contract/task-context.ts'
import { getDefinedToolMetadata } from '../contract/tool-metadata.ts'

/** What of a step of the AI SDK is read. */
export interface RecordedStep {
  /** The step's `tool-call` parts. Those that are not marked `invalid` have reached their tool. */
  readonly toolCalls: readonly unknown[]
}

/** A call as the AI SDK (5, 6 and 7) shows one that it has refused. */
interface InvalidCall {
  readonly invalid: true
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly error?: unknown
}

/** Records what the AI SDK refused by itself, one row a call; a tool is handed its own, and refuses it unseen. */
export async function recordInvalidCalls(
  { toolCalls }: RecordedStep,
  tools: ReadonlyMap<string, unknown>,
  context: TaskContext,
): Promise<void> {
  for (const call of toolCalls.filter(isRefused)) {
    const { toolCallId, toolName, input } = call
    const unknown = isUnknownTool(call)
    const error = unknown ? notFound(toolName, tools) : refusedInput(call)
    const options: ToolCallOptions = {
      toolCallId,
      messages: [],
      [boundContext]: context,
      [invalidBefore]: error,
    }
    const tool = tools.get(toolName)
    try {
      if (isDefined(tool)) await ended(tool.execute(input, options))
      else if (unknown) await executeCall(missingTool(toolName, error), input, options)
    } catch {
      // The refusal, which the row holds.
    }
  }
}

function isRefused(part: unknown): part is InvalidCall {
  if (typeof part !== 'object' || part === null) return false
  const { invalid, toolCallId, toolName } = part as Partial<InvalidCall>
  return invalid === true && typeof toolCallId === 'string' && typeof toolName === 'string'
}

function isUnknownTool({ error }: InvalidCall): boolean {
  return error instanceof Error && error.name === 'AI_NoSuchToolError'
}

interface DefinedExecute {
  readonly execute: (input: unknown, options: ToolCallOptions) => unknown
}

function isDefined(tool: unknown): tool is DefinedExecute {
  return (
    getDefinedToolMetadata(tool) !== null &&
    typeof (tool as Partial<DefinedExecute>).execute === 'function'
  )
}

/** A tool that streams records from its first `next` on. */
async function ended(output: unknown): Promise<void> {
  if (typeof output === 'object' && output !== null && Symbol.asyncIterator in output) {
    await (output as AsyncIterable<unknown>)[Symbol.asyncIterator]().next()
    return
  }
  await output
}

/** The longest name that is repeated: a model may write anything as a name. */
const maxNameLength = 64

function shownName(name: string): string {
  return name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength).toWellFormed()}…`
}

function notFound(toolName: string, tools: ReadonlyMap<string, unknown>): SmithersError {
  const name = shownName(toolName)
  const known = [...tools.keys()]
  return new SmithersError(
    'TOOL_NOT_FOUND',
    tools.has(toolName)
      ? `Tool "${name}" was not among the tools of this step.`
      : `Unknown tool "${name}". The tools are ${known.join(', ') || 'none'}.`,
    { details: { toolName: name }, effect: 'none' },
  )
}

/** Seen only when the tool's own schema has nothing against the arguments. The reason may quote them, so it is left out. */
function refusedInput({ toolName, error }: InvalidCall): SmithersError {
  const name = shownName(toolName)
  const reason = error instanceof Error ? ` (${error.name})` : ''
  return new SmithersError(
    'INVALID_INPUT',
    `The call of tool "${name}" was refused before it reached the tool${reason}.`,
    { details: { toolName: name }, effect: 'none' },
  )
}

/** A definition for an unknown tool, so that its call has a row like any other. */
function missingTool(toolName: string, error: SmithersError): ToolDefinition {
  const refuse = (): never => {
    throw error
  }
  return {
    metadata: { name: shownName(toolName), sideEffect: false, idempotent: true },
    effectScope: 'external',
    schema: { '~standard': { validate: refuse } } as unknown as ZodType,
    execute: refuse,
    streams: false,
    parsesOnce: false,
    key: 'call',
    onRetry: undefined,
    verify: undefined,
    timeoutMs: undefined,
    finalAnswer: false,
    archivesOutput: false,
    returnsWholeText: false,
    modelBudget: undefined,
    gates: undefined,
    preview: undefined,
    // Without the tool's mapper, the log sees only the shape of the arguments.
    logInput: refuse,
    logOutput: undefined,
    warn: refuse,
  }
}
