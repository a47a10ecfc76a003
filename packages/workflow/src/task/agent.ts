/** A message of a conversation, as the AI SDK has them. */
export interface AgentMessage {
  readonly role: string
  readonly content: unknown
}

/** One turn asked of an agent. `prompt` or `messages`, never both. */
export interface AgentCall {
  readonly prompt?: string
  readonly messages?: AgentMessage[]
  readonly abortSignal: AbortSignal
  /** The agent's tools and the task's, bound to the attempt. Left out when there are none. */
  readonly tools?: Readonly<Record<string, unknown>>
  /** Told of each step of the turn. Only for agents that add it to their own listener instead of replacing that. */
  readonly onStepFinish?: (step: AgentStep) => void | Promise<void>
}

/** What of an agent's step a task reads. */
export interface AgentStep {
  readonly text?: string
  readonly toolCalls?: readonly unknown[]
}

/** What of an agent's answer a task reads. */
export interface AgentAnswer {
  readonly text: string
  /** The messages that the turn added to the conversation. Those of its last step, when there are `responseMessages`. */
  readonly response: { readonly messages: readonly AgentMessage[] }
  /** AI SDK 7: the messages that the turn added to the conversation. */
  readonly responseMessages?: readonly AgentMessage[]
  /** The steps of the turn. Read from agents that take no listener for steps: their refused calls get a row each. */
  readonly steps?: readonly AgentStep[]
}

/**
 * Whoever does a task. `ToolLoopAgent` of the AI SDK 6 and 7 and `Experimental_Agent` of 5 fit; so does any object with
 * a `generate` that takes and returns these shapes.
 */
export interface TaskAgent {
  /** Of the AI SDK from 6 on. Their `generate` takes a listener for steps in addition to the agent's own. */
  readonly version?: string
  readonly tools?: Readonly<Record<string, unknown>>
  generate(call: never): PromiseLike<AgentAnswer>
}
