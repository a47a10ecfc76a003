import type { ToolRun } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import type { AgentAnswer, AgentCall, AgentMessage, TaskAgent } from './agent.ts'
import {
  checkAnswer,
  outputInstructions,
  outputInvalid,
  repairRequest,
} from './structured-output.ts'

/** What an agent is asked to do in one attempt. */
export interface AgentAssignment {
  readonly agent: TaskAgent
  /** Tools in addition to the agent's own. */
  readonly tools: Readonly<Record<string, unknown>>
  /** The conversation so far; empty for a task that begins with its prompt. */
  readonly messages: readonly AgentMessage[]
  readonly prompt: string | null
  readonly schema: ZodType | null
  readonly repairs: number
}

/** What an agent has answered. */
export interface AgentOutcome {
  /** As the schema returned it; the text when there is no schema. */
  readonly value: unknown
  /** Before the schema changed it: what is recorded. */
  readonly raw: unknown
  readonly text: string
  readonly repairs: number
}

/**
 * Lets an agent do its task, and mend an answer that does not match the schema, all in one context: the options of the
 * run, its journal and its keys reach the tools in every turn.
 *
 * @throws SmithersError `TASK_OUTPUT_INVALID`
 */
export async function runAgentTurns(
  assignment: AgentAssignment,
  run: ToolRun,
  options: {
    readonly signal: AbortSignal
    readonly warning: string | null
    readonly onRepair: (repair: number, problem: string) => void
  },
): Promise<AgentOutcome> {
  const { schema, repairs } = assignment
  const { signal, warning, onRepair } = options
  const ask = turnsOf(assignment, run, signal)
  const conversation = await opening(assignment, run, warning)
  let answer = await ask(conversation)
  for (let repair = 0; ; repair += 1) {
    if (schema === null)
      return { value: answer.text, raw: answer.text, text: answer.text, repairs: 0 }
    const verdict = await checkAnswer(schema, answer.text, structuredOutputOf(answer))
    if (verdict.ok) return { ...verdict, text: answer.text, repairs: repair }
    // A turn that was stopped half-way has no answer to mend.
    signal.throwIfAborted()
    if (repair === repairs) throw outputInvalid(run.context.nodeId, verdict.problem, repair)
    onRepair(repair + 1, verdict.problem)
    conversation.push(...answer.response.messages, {
      role: 'user',
      content: repairRequest(verdict.problem),
    })
    answer = await ask(conversation)
  }
}

function turnsOf(
  { agent, tools }: AgentAssignment,
  run: ToolRun,
  abortSignal: AbortSignal,
): (conversation: readonly AgentMessage[]) => PromiseLike<AgentAnswer> {
  const all = { ...agent.tools, ...tools }
  // Bound explicitly as well as through the surrounding context: an agent may call its tools from elsewhere.
  const bound = Object.keys(all).length === 0 ? {} : { tools: run.tools(all) }
  const generate = agent.generate.bind(agent) as (call: AgentCall) => PromiseLike<AgentAnswer>
  return (conversation) => {
    const [first, second] = conversation
    // One user message is what a prompt is, and every agent takes a prompt.
    const isPrompt =
      second === undefined && first?.role === 'user' && typeof first.content === 'string'
    return run.with(() =>
      generate({
        ...(isPrompt ? { prompt: first.content } : { messages: [...conversation] }),
        ...bound,
        abortSignal,
      }),
    )
  }
}

/** The messages of the first turn: warning, task, instructions. */
async function opening(
  { messages, prompt, schema }: AgentAssignment,
  run: ToolRun,
  warning: string | null,
): Promise<AgentMessage[]> {
  const instructions = schema === null ? null : await outputInstructions(schema)
  if (messages.length === 0) {
    const parts = [warning, prompt, instructions].filter((part) => part !== null)
    return [{ role: 'user', content: parts.join('\n\n') }]
  }
  const parts = [prompt, instructions].filter((part) => part !== null)
  const asked =
    parts.length === 0 ? [] : [{ role: 'user', content: parts.join('\n\n') } satisfies AgentMessage]
  return [...(await run.messages([...messages, ...asked]))]
}

/** AI SDK: an agent with an `output` of its own has parsed its answer; the getter throws when it could not. */
function structuredOutputOf(answer: AgentAnswer): unknown {
  try {
    return (answer as { readonly output?: unknown }).output
  } catch {
    return undefined
  }
}
