import { setImmediate as turnOfEventLoop } from 'node:timers/promises'
import type { ToolRun } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import type { AgentAnswer, AgentCall, AgentMessage, AgentStep, TaskAgent } from './agent.ts'
import { type FinalAnswer, listenForAnswer } from './final-answer.ts'
import {
  answerToolInstructions,
  answerToolRequest,
  checkAnswer,
  outputInstructions,
  outputInvalid,
  repairRequest,
} from './structured-output.ts'
import { checkValue } from '../values/check-value.ts'

/** The work of an agent in one attempt. */
export interface AgentAssignment {
  readonly agent: TaskAgent
  /** Tools in addition to the agent's own. */
  readonly tools: Readonly<Record<string, unknown>>
  /** The conversation so far; empty for a task that starts with its prompt. */
  readonly messages: readonly AgentMessage[]
  readonly prompt: string | null
  readonly schema: ZodType | null
  readonly repairs: number
}

/** The answer of an agent. */
export interface AgentOutcome {
  /** As parsed by the schema; without a schema, the text. */
  readonly value: unknown
  /** The value before the schema parsed it, which is recorded. */
  readonly raw: unknown
  readonly text: string
  readonly repairs: number
}

/**
 * Lets an agent do its task and repair an answer that does not match the schema, all in one context: the options of the
 * run, its journal and its keys reach the tools in every turn. A valid call of a tool that ends the task, such as
 * `response`, is the answer; the model is not called again after that step.
 *
 * @throws SmithersError `TASK_OUTPUT_INVALID`
 */
export async function runAgentTurns(
  assignment: AgentAssignment,
  run: ToolRun,
  options: AgentTurnOptions,
): Promise<AgentOutcome> {
  const { schema, repairs } = assignment
  const { signal, warning, onRepair } = options
  const { nodeId } = run.context
  const turns = turnsOf(assignment, run, options)
  const { toolName } = turns.answer
  const conversation = await opening(assignment, run, warning, toolName)
  for (let repair = 0; ; repair += 1) {
    const answer = await turns.ask(conversation)
    const text = answer?.text ?? ''
    const given = turns.answer.given()
    if (given !== undefined)
      return { ...(await accepted(given, schema, nodeId)), text, repairs: repair }
    if (answer === undefined || schema === null) return { value: text, raw: text, text, repairs: 0 }
    const check = await checkAnswer(schema, text, structuredOutputOf(answer))
    if (check.ok) return { ...check, text, repairs: repair }
    // An interrupted turn has no answer to repair.
    signal.throwIfAborted()
    if (repair === repairs) throw outputInvalid(nodeId, check.problem, repair)
    onRepair(repair + 1, check.problem)
    conversation.push(...(answer.responseMessages ?? answer.response.messages), {
      role: 'user',
      content: toolName === null ? repairRequest(check.problem) : answerToolRequest(toolName),
    })
  }
}

interface AgentTurnOptions {
  readonly signal: AbortSignal
  readonly warning: string | null
  readonly onRepair: (repair: number, problem: string) => void
  readonly onText: (text: string) => void
}

interface AgentTurns {
  readonly answer: FinalAnswer
  /** Undefined when the turn was ended because a tool call gave the answer. */
  readonly ask: (conversation: readonly AgentMessage[]) => Promise<AgentAnswer | undefined>
}

function turnsOf(
  { agent, tools, schema }: AgentAssignment,
  run: ToolRun,
  { signal, onText }: AgentTurnOptions,
): AgentTurns {
  const all = { ...agent.tools, ...tools }
  // Bound explicitly as well as through the ambient context: an agent may call its tools from elsewhere.
  const answer = listenForAnswer(run.tools(all))
  const answered = new AbortController()
  const abortSignal = answer.toolName === null ? signal : AbortSignal.any([signal, answered.signal])
  const record = ({ toolCalls = [] }: AgentStep): Promise<void> => run.record({ toolCalls })
  const onStepFinish = async (step: AgentStep): Promise<void> => {
    if (signal.aborted) return
    const { text = '', toolCalls = [] } = step
    if (text.trim() !== '' && (schema === null || toolCalls.length > 0)) onText(text)
    // All calls of this step have ended.
    if (answer.given() !== undefined) answered.abort()
    await record(step)
    // A run that waits for an approval is aborted one turn of the event loop later. A model that answers at once must
    // not get another turn before that.
    if (toolCalls.length > 0) await turnOfEventLoop()
  }
  const generate = agent.generate.bind(agent) as (call: AgentCall) => PromiseLike<AgentAnswer>
  const call = {
    ...(Object.keys(all).length > 0 && { tools: answer.tools }),
    // Agents without a version, those of the AI SDK 5, would replace their own listener.
    ...(agent.version !== undefined && { onStepFinish }),
    abortSignal,
  }
  return {
    answer,
    async ask(conversation) {
      const [first, second] = conversation
      // A single user message is a prompt, and every agent takes a prompt.
      const isPrompt =
        second === undefined && first?.role === 'user' && typeof first.content === 'string'
      const what = isPrompt ? { prompt: first.content } : { messages: [...conversation] }
      try {
        const turn = await run.with(() => generate({ ...what, ...call }))
        if (agent.version === undefined) for (const step of turn.steps ?? []) await record(step)
        return turn
      } catch (error) {
        if (answered.signal.aborted && !signal.aborted) return undefined
        throw error
      }
    },
  }
}

/** The answer given through a tool, parsed by the task's schema. */
async function accepted(
  { value, toolName }: { readonly value: unknown; readonly toolName: string },
  schema: ZodType | null,
  nodeId: string,
): Promise<Pick<AgentOutcome, 'value' | 'raw'>> {
  if (schema === null) return { value, raw: value }
  const check = await checkValue(schema, value)
  if (check.ok) return check
  throw outputInvalid(
    nodeId,
    `${check.problem}, in the value that "${toolName}" returned. Give that tool the schema of the task, and use a schema that does not change the type of its input`,
    0,
  )
}

/** The messages of the first turn: warning, prompt, instructions. */
async function opening(
  { messages, prompt, schema }: AgentAssignment,
  run: ToolRun,
  warning: string | null,
  answerTool: string | null,
): Promise<AgentMessage[]> {
  const instructions =
    answerTool !== null
      ? answerToolInstructions(answerTool)
      : schema === null
        ? null
        : await outputInstructions(schema)
  if (messages.length === 0) {
    const parts = [warning, prompt, instructions].filter((part) => part !== null)
    return [{ role: 'user', content: parts.join('\n\n') }]
  }
  const parts = [prompt, instructions].filter((part) => part !== null)
  const asked =
    parts.length === 0 ? [] : [{ role: 'user', content: parts.join('\n\n') } satisfies AgentMessage]
  return [...(await run.messages([...messages, ...asked]))]
}

/** The answer that an AI SDK agent parsed with an `output` of its own. The getter throws when parsing failed. */
function structuredOutputOf(answer: AgentAnswer): unknown {
  try {
    return (answer as { readonly output?: unknown }).output
  } catch {
    return undefined
  }
}
