import { isThenable, type MaybePromise } from '../async/maybe-promise.ts'
import type { ConversationMessage } from '../contract/task-context.ts'
import type { AgentTurn } from './agent-turn.ts'
import type { RecordedStep } from './record-invalid-calls.ts'

/** An agent: `ToolLoopAgent` of the AI SDK 6 and 7, `Experimental_Agent` of 5, or an object of the same shape. */
export interface RunnableAgent {
  readonly version?: string
  readonly id?: string | undefined
  readonly tools?: Readonly<Record<string, unknown>>
  generate(options: never): PromiseLike<unknown>
  stream(options: never): unknown
}

type Options<Method extends (options: never) => unknown> = Parameters<Method>[0] & {
  readonly abortSignal?: AbortSignal
}

/** An agent that works in a run. It can be used wherever the AI SDK takes an agent. */
export type AgentOfRun<Agent extends RunnableAgent> = Pick<
  Agent,
  Extract<keyof Agent, 'version' | 'id' | 'tools'>
> & {
  generate(options: Options<Agent['generate']>): Promise<Awaited<ReturnType<Agent['generate']>>>
  stream(options: Options<Agent['stream']>): Promise<Awaited<ReturnType<Agent['stream']>>>
}

/** What of a run its agents need. */
interface RunOfAgent {
  readonly abortSignal: AbortSignal
  tools<Tools extends Readonly<Record<string, unknown>>>(tools: Tools): Tools
  messages(messages: readonly ConversationMessage[]): MaybePromise<readonly ConversationMessage[]>
  with<Result>(fn: () => Result): Result
}

type StepListener = (step: RecordedStep) => unknown

/** The options of one call, in all the shapes that the majors of the AI SDK give them. */
interface CallOptions {
  readonly prompt?: string | readonly ConversationMessage[] | undefined
  readonly messages?: readonly ConversationMessage[] | undefined
  readonly tools?: Readonly<Record<string, unknown>> | undefined
  readonly abortSignal?: AbortSignal | undefined
  readonly onStepEnd?: StepListener | undefined
  readonly onStepFinish?: StepListener | undefined
  readonly experimental_transform?: unknown
}

/** Settings of an agent of AI SDK 5, in place of which options of a call are used. */
interface OwnSettings {
  readonly onStepFinish?: StepListener
  readonly experimental_transform?: unknown
}

/** Binds an agent to a run: see `ToolRun.agent`. */
export function agentOfRun<Agent extends RunnableAgent>(
  run: RunOfAgent,
  beginTurn: () => AgentTurn,
  agent: Agent,
): AgentOfRun<Agent> {
  const tools = agent.tools && run.tools(agent.tools)
  const generate = agent.generate.bind(agent) as (options: object) => PromiseLike<unknown>
  const stream = agent.stream.bind(agent) as (options: object) => unknown
  const own = ownSettings(agent)
  const bound = {
    ...(agent.version !== undefined && { version: agent.version }),
    ...('id' in agent && { id: agent.id }),
    ...(tools !== undefined && { tools }),
    async generate(options: CallOptions): Promise<unknown> {
      const turn = beginTurn()
      const answer = run.with(async () => {
        const prepared = await optionsInRun(run, tools, options)
        return generate({ ...prepared, ...listeners(options, own, turn) })
      })
      try {
        return await turn.settled(answer)
      } finally {
        turn.end()
      }
    },
    async stream(options: CallOptions): Promise<unknown> {
      const turn = beginTurn()
      try {
        return await run.with(async () => {
          const prepared = await optionsInRun(run, tools, options)
          const given = options.experimental_transform ?? own.experimental_transform ?? []
          const transforms = [turn.transform, ...(Array.isArray(given) ? given : [given])]
          return settledResult(
            await stream({ ...prepared, experimental_transform: transforms }),
            turn,
          )
        })
      } catch (error) {
        turn.end()
        throw turn.failure(error)
      }
    },
  }
  // The same fields with the same types, which depend on an agent that this function does not know.
  return bound as unknown as AgentOfRun<Agent>
}

/** In AI SDK 5 the options of a call replace the settings of the agent; later agents have a version, and use both. */
function ownSettings(agent: RunnableAgent): OwnSettings {
  if (agent.version !== undefined) return {}
  const { settings } = agent as { readonly settings?: OwnSettings }
  return settings ?? {}
}

async function optionsInRun(
  run: RunOfAgent,
  own: Readonly<Record<string, unknown>> | undefined,
  options: CallOptions,
): Promise<object> {
  const { prompt, messages = prompt, tools, abortSignal, ...rest } = options
  const given =
    typeof messages === 'string' ? [{ role: 'user', content: messages }] : (messages ?? [])
  const warned = await run.messages(given)
  const isPrompt = typeof messages === 'string' && warned.length === given.length
  const all = { ...own, ...(tools && run.tools(tools)) }
  return {
    ...rest,
    ...(isPrompt ? { prompt: messages } : warned.length > 0 && { messages: warned }),
    ...(Object.keys(all).length > 0 && { tools: all }),
    abortSignal:
      abortSignal === undefined ? run.abortSignal : AbortSignal.any([abortSignal, run.abortSignal]),
  }
}

/** Under the name that the caller used: the AI SDK calls one of the two. */
function listeners(options: CallOptions, own: OwnSettings, turn: AgentTurn): object {
  const name = options.onStepEnd === undefined ? 'onStepFinish' : 'onStepEnd'
  const listener = options[name] ?? own.onStepFinish
  const onStep: StepListener = async (step) => {
    await turn.afterStep(step)
    await listener?.(step)
  }
  return { [name]: onStep }
}

/** The result of a stream. Its promises (`text`, `steps`) reject with what ended the run. */
function settledResult(result: unknown, turn: AgentTurn): unknown {
  if (typeof result !== 'object' || result === null) return result
  return new Proxy(result, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value === 'function') return value.bind(target) as unknown
      return isThenable(value) ? turn.settled(value) : value
    },
  })
}
