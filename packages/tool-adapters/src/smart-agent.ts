import {
  createGetToolResponse,
  createManageTodoList,
  createResponse,
} from '@smithers/context-tools'
import {
  createToolRun,
  SmithersError,
  type ToolCallLog,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { type LanguageModel, type ModelMessage, ToolLoopAgent, type ToolSet } from 'ai'
import type { output as SchemaOutput, ZodType } from 'zod'
import type { ForeignTool } from './foreign-tool.ts'
import { namedTools } from './named-tools.ts'
import { toolHistory, type ToolHistoryEntry } from './tool-history.ts'

/** A tool of {@link createSmartAgent}: a defined one, one of the AI SDK, or an object that `adaptTool` takes. */
export type SmartAgentTool = ToolSet[string] | ForeignTool

/** Options of {@link createSmartAgent}. The options of a run apply to each invocation. */
export interface SmartAgentOptions<Schema extends ZodType | undefined = undefined> extends Omit<
  ToolRunOptions,
  'runId' | 'attempt' | 'abortSignal'
> {
  readonly model: LanguageModel
  /** By name, or as a list of tools that have one. @default none */
  readonly tools?: readonly SmartAgentTool[] | Readonly<Record<string, SmartAgentTool>>
  readonly instructions?: string
  /** Gives the agent the tool `response`, whose first valid call is the output. */
  readonly outputSchema?: Schema
  /** Most turns of the model in one invocation. @default 50 */
  readonly maxSteps?: number
  /** Gives the agent `manage_todo_list`. @default true */
  readonly useTodoList?: boolean
}

/** One invocation: a prompt or a conversation. */
export interface SmartAgentCall {
  readonly prompt?: string
  readonly messages?: readonly ModelMessage[]
  /** The same id again is another attempt of the same work. @default a random id */
  readonly runId?: string
  readonly signal?: AbortSignal
}

/** What {@link SmartAgent.invoke} resolves to. */
export interface SmartAgentResult<Output> {
  /** The agent's last text. */
  readonly text: string
  /** What `response` was given; undefined without `outputSchema`. */
  readonly output: Output
  /** The conversation, with what the agent added. */
  readonly messages: readonly ModelMessage[]
  readonly runId: string
  readonly state: {
    /** Every call of the run, in all its attempts, oldest first. */
    readonly toolHistory: readonly ToolHistoryEntry[]
  }
}

/** An agent with tools for its context. */
export interface SmartAgent<Output> {
  invoke(call: SmartAgentCall): Promise<SmartAgentResult<Output>>
}

type OutputOf<Schema> = Schema extends ZodType ? SchemaOutput<Schema> : undefined

/**
 * Makes an agent that keeps a plan (`manage_todo_list`), can read outputs that were cut or summarised
 * (`get_tool_response`) and, with `outputSchema`, answers through `response`. Objects with `invoke`, `call`, `run` or
 * `func` among its tools are adapted as by `adaptTool`. Needs the AI SDK 6 or 7.
 *
 * Each `invoke` is one attempt of a run: its cache and its circuit breakers begin anew, its limits count the whole run. A
 * call that waits for approval ends it with `TOOL_APPROVAL_REQUIRED`; decide with `resolveToolApproval`, and invoke again
 * with the same `runId`.
 *
 * @throws SmithersError `INVALID_TOOL` for a tool that cannot be adapted, or has the name of one that the agent brings.
 *   `invoke`: `TASK_OUTPUT_INVALID` when the agent does not call `response`; what ended the run.
 */
export function createSmartAgent<Schema extends ZodType | undefined = undefined>(
  options: SmartAgentOptions<Schema>,
): SmartAgent<OutputOf<Schema>> {
  const { model, tools = {}, instructions, outputSchema, maxSteps = 50, ...others } = options
  const { useTodoList = true, log = createMemoryLog(), ...runOptions } = others
  const response = outputSchema === undefined ? null : createResponse({ outputSchema })
  const all = withContextTools(namedTools(tools), {
    ...(useTodoList && { manage_todo_list: createManageTodoList() }),
    get_tool_response: createGetToolResponse(),
    ...(response !== null && { response: response.tool }),
  })
  return {
    async invoke(call) {
      const { runId = crypto.randomUUID(), signal } = call
      const attempt = await nextAttempt(log, runId)
      const run = createToolRun({ ...runOptions, log, runId, attempt, abortSignal: signal })
      try {
        const agent = run.agent(
          new ToolLoopAgent({
            model,
            ...(instructions !== undefined && { instructions }),
            tools: all,
            // The AI SDK 6 and 7 name this condition differently.
            stopWhen: [
              ({ steps }) => steps.length >= maxSteps,
              ...(response === null ? [] : [response.stopWhen]),
            ],
          }),
        )
        const messages = [...conversationOf(call)]
        for (let turn = 1; ; turn += 1) {
          const result = await agent.generate({ messages })
          const { text, steps } = result
          messages.push(...addedBy(result))
          const output = response?.answerOf({ steps })
          if (response === null || output !== undefined) {
            const state = { toolHistory: await toolHistory(log, runId) }
            return { text, output: output as OutputOf<Schema>, messages, runId, state }
          }
          if (turn === mostTurns) throw noAnswer(runId)
          messages.push({ role: 'user', content: answerRequest })
        }
      } finally {
        await run.close()
      }
    },
  }
}

const answerRequest = 'Call the tool "response" with your final answer.'

/** Times that an agent is asked for its answer. */
const mostTurns = 3

function noAnswer(runId: string): SmithersError {
  return new SmithersError(
    'TASK_OUTPUT_INVALID',
    `The agent was asked ${mostTurns} times and did not call "response". Change its instructions, or invoke it again with runId "${runId}".`,
    { details: { runId } },
  )
}

function conversationOf({ prompt, messages = [] }: SmartAgentCall): readonly ModelMessage[] {
  if (prompt === undefined && messages.length === 0) {
    throw new SmithersError('INVALID_INPUT', 'invoke needs a prompt or messages.')
  }
  return prompt === undefined ? messages : [...messages, { role: 'user', content: prompt }]
}

/** The messages of all steps: in the AI SDK 7 `responseMessages`, while `response` has those of the last step alone. */
function addedBy(result: {
  readonly responseMessages?: readonly ModelMessage[]
  readonly response: { readonly messages: readonly ModelMessage[] }
}): readonly ModelMessage[] {
  return result.responseMessages ?? result.response.messages
}

async function nextAttempt(log: ToolCallLog, runId: string): Promise<number> {
  const [last] = await log.list({ runId, order: 'descending', limit: 1 })
  return (last?.attempt ?? 0) + 1
}

function withContextTools(
  own: Readonly<Record<string, unknown>>,
  added: Readonly<Record<string, unknown>>,
): ToolSet {
  for (const name of Object.keys(added)) {
    if (!(name in own)) continue
    throw new SmithersError(
      'INVALID_TOOL',
      `The agent brings a tool "${name}" of its own. Give yours another name.`,
      { details: { toolName: name } },
    )
  }
  // The AI SDK's type of a set cannot be met by tools whose types are not known.
  return { ...own, ...added } as ToolSet
}

export { toolHistory, type ToolHistoryEntry } from './tool-history.ts'
