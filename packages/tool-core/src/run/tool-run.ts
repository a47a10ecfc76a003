import { runWithToolContext } from '../context/ambient-context.ts'
import { boundContext } from '../contract/tool-call-options.ts'
import { chain, drive } from '../async/maybe-promise.ts'
import { depart } from '../journal/error-effect.ts'
import { journalOf } from '../journal/attempt-journal.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import { AgentTurn } from './agent-turn.ts'
import { type RecordedStep, recordInvalidCalls } from './record-invalid-calls.ts'
import { agentOfRun, type AgentOfRun, type RunnableAgent } from './run-agent.ts'
import type { ToModelOutput } from '../call/noted-output.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { getDefinedToolMetadata } from '../contract/tool-metadata.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import { createToolContext } from '../context/create-tool-context.ts'
import type { ToolContextOptions } from '../contract/run-options.ts'
import { type ConversationMessage } from '../contract/task-context.ts'
import { type TaskContext } from '../contract/task-context.ts'
import { isRetryWarning, type RetryWarningMessage, withRetryWarning } from './warning-message.ts'

/** Options of {@link createToolRun}. */
export interface ToolRunOptions extends ToolContextOptions {
  /** Limit of the retry warning, in bytes. @default 4000 */
  readonly maxWarningBytes?: number | undefined
}

/** One attempt of one task of a run, as the program that drives the agent holds it. */
export interface ToolRun {
  readonly context: TaskContext
  /** Hand it to the agent: it is aborted when the run must stop. */
  readonly abortSignal: AbortSignal
  /**
   * Why the run must stop: the log failed where that is not safe, another worker took a call over, or a tool threw a
   * `fatal` error.
   */
  readonly fatal: SmithersError | undefined
  /** Copies of tools whose calls belong to this run, wherever they are made. */
  tools<Tools extends Readonly<Record<string, unknown>>>(tools: Tools): Tools
  /** Runs `fn`; every defined tool called in it belongs to this run. */
  with<Result>(fn: () => Result): Result
  /**
   * What the agent must know of the effects of earlier attempts; null when there are none. A promise only with a log
   * that answers later.
   */
  retryWarning(): MaybePromise<string | null>
  /** The messages with the warning as one more, in place of an older one; as they are when there is nothing to warn of. */
  messages<const Message extends ConversationMessage>(
    messages: readonly Message[],
  ): MaybePromise<(Message | RetryWarningMessage)[]>
  /**
   * Records the calls of a step that the AI SDK refused before they reached a tool: of an unknown tool, or with
   * arguments that do not fit. Calls of tools that were not defined with this package leave no rows. Hand it each step
   * once, as `onStepFinish: (step) => run.record(step)`, or a part of a stream as `{ toolCalls: [part] }`.
   */
  record(step: RecordedStep): Promise<void>
  /** Lets the call with this key run although an earlier one may stand. */
  allow(idempotencyKey: string): void
  /**
   * Returns `value`, the agent's result.
   *
   * @throws SmithersError what `fatal` holds: the AI SDK has shown it to the model at most, and gone on.
   */
  settle<Value>(value: Value): Promise<Value>
  settle(): Promise<void>
  /**
   * Returns an agent that does all its work in this run: `ToolLoopAgent` of the AI SDK 6 and 7, `Experimental_Agent` of 5,
   * or an object with their `generate` and `stream`. It replaces `tools`, `messages`, `abortSignal`, `record`,
   * `with` and `settle`:
   *
   * - the calls of its tools belong to the run, and so do those of tools given with a call;
   * - the conversation has the retry warning, which `prompt` alone would lack;
   * - the run ends the agent when it must stop, as does the `abortSignal` of the call;
   * - what the AI SDK refuses before it reaches a tool has a row;
   * - what had to stop the run is thrown: by `generate`, by the promises of a stream's result (`text`, `steps`), and as a
   *   part `error` of the stream itself;
   * - at the end, what its tools left running is ended.
   *
   * A stream that is not read to its end has none. Abort it, or close the run.
   *
   * @example
   * const agent = run.agent(new ToolLoopAgent({ model, tools }))
   * const { text } = await agent.generate({ prompt: 'Make the tests pass.' })
   */
  agent<Agent extends RunnableAgent>(agent: Agent): AgentOfRun<Agent>
  /**
   * Ends the attempt: aborts `abortSignal`, and with it agents and calls that are under way, ends what they left running,
   * and waits until each call has its row, for at most five seconds: a tool may ignore its signal. Later calls are refused
   * with `TOOL_CLOSED`. The log stays open. Closing again waits for the same end. A tool of the run that awaits `close`
   * waits for itself, for those five seconds: call it there without `await`.
   */
  close(): Promise<void>
  /** {@link ToolRun.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Joins a run for one attempt of one task: the calls of its tools share one journal, keys and limits. The run itself is
 * the work with this `runId`, which outlives the process; an attempt is one try of a task (`nodeId`) of it.
 *
 * @throws SmithersError `INVALID_INPUT` for a value out of range.
 * @example
 * await using run = createToolRun({ runId, attempt, log })
 * const agent = run.agent(new ToolLoopAgent({ model, tools: { charge } }))
 * const { text } = await agent.generate({ prompt: task })
 */
export function createToolRun(options: ToolRunOptions = {}): ToolRun {
  const context = createToolContext(options)
  const journal = journalOf(context)
  const maxBytes = options.maxWarningBytes ?? 4000

  const handedOut = new Map<string, unknown>()

  const run: ToolRun = {
    context,
    get abortSignal() {
      return journal.signal
    },
    get fatal() {
      return journal.fatal
    },
    tools: (tools) => {
      assertTools(tools)
      journal.responseTool = responseToolOf(tools) ?? journal.responseTool ?? null
      const copies = Object.entries(tools).map(
        ([key, tool]) => [key, bound(tool, context)] as const,
      )
      for (const [key, tool] of copies) handedOut.set(key, tool)
      return Object.fromEntries(copies) as typeof tools
    },
    record: (step) => recordInvalidCalls(step, handedOut, context),
    with: (fn) => runWithToolContext(context, fn),
    retryWarning: () => drive(journal.retryWarning(maxBytes)),
    messages: (messages) =>
      chain(drive(journal.retryWarning(maxBytes)), (warning) =>
        withRetryWarning(
          messages.filter((message) => !isRetryWarning(message)),
          warning,
        ),
      ),
    allow: (idempotencyKey) => {
      journal.allowed.add(idempotencyKey)
    },
    settle: async <Value>(value?: Value) => {
      const { fatal } = journal
      journal.settle()
      if (fatal !== undefined) {
        depart(fatal)
        throw fatal
      }
      return value as Value
    },
    agent: (agent) =>
      agentOfRun(run, () => new AgentTurn(journal, (step) => run.record(step)), agent),
    close: () => journal.close(),
    [Symbol.asyncDispose]: () => journal.close(),
  }
  return run
}

/** The name by which the agent calls the tool that reads outputs of which it was shown a part. */
function responseToolOf(tools: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(tools).find(
    (key) => getDefinedToolMetadata(tools[key])?.name === 'get_tool_response',
  )
}

const foreignFunctions = ['invoke', 'call', 'run', 'func', '_call'] as const

/** A tool of another library type-checks, is offered to the model, and does nothing when it is called. */
function assertTools(tools: unknown): void {
  if (typeof tools !== 'object' || tools === null || Array.isArray(tools)) {
    throw new SmithersError(
      'INVALID_TOOL',
      'run.tools takes an object of tools by name. For a list there is toolset([a, b]).',
    )
  }
  for (const [name, tool] of Object.entries(tools)) {
    const foreign = foreignFunctions.find((each) => isMethod(tool, each))
    if (typeof tool !== 'function' && (foreign === undefined || isMethod(tool, 'execute'))) continue
    const what = typeof tool === 'function' ? 'is a function' : `has ${foreign}, but no execute`
    throw new SmithersError(
      'INVALID_TOOL',
      `Tool "${name}" ${what}, so a call of it would do nothing. Adapt it: adaptTool(…) or fromLangChain(…) of @smithers/tool-adapters, or define it with defineTool.`,
      { details: { toolName: name } },
    )
  }
}

function isMethod(tool: unknown, name: string): boolean {
  return (
    typeof tool === 'object' &&
    tool !== null &&
    typeof (tool as Readonly<Record<string, unknown>>)[name] === 'function'
  )
}

interface ToolFields {
  readonly execute?: (args: unknown, options?: ToolCallOptions) => unknown
  readonly toModelOutput?: ToModelOutput
}

function bound(tool: unknown, context: TaskContext): unknown {
  if (typeof tool !== 'object' || tool === null) return tool
  const { execute, toModelOutput } = tool as ToolFields
  if (typeof execute !== 'function') return tool
  const metadata = getDefinedToolMetadata(tool)
  const isDefined = metadata !== null && toModelOutput !== undefined
  return {
    ...tool,
    // What the model is shown depends on the run, and AI SDK 5 does not even say whose output it is.
    ...(isDefined && {
      toModelOutput: (given: unknown) =>
        runWithToolContext(context, () => toModelOutput?.call(tool, given)),
    }),
    execute: (args: unknown, options?: ToolCallOptions) =>
      execute.call(tool, args, { ...options, [boundContext]: context } as ToolCallOptions),
  }
}
