/** A message of a conversation, in the AI SDK's shape. */
export interface AgentMessage {
  readonly role: string
  readonly content: unknown
}

/** One turn of an agent. `prompt` or `messages`, never both. */
export interface AgentCall {
  readonly prompt?: string
  readonly messages?: AgentMessage[]
  readonly abortSignal: AbortSignal
  /** The agent's tools and the task's, bound to the attempt. Left out when there are none. */
  readonly tools?: Readonly<Record<string, unknown>>
  /** Receives each step of the turn. Only for agents that call it in addition to their own listener. */
  readonly onStepFinish?: (step: AgentStep) => void | Promise<void>
}

/** The parts of an agent's step that a task reads. */
export interface AgentStep {
  readonly text?: string
  readonly toolCalls?: readonly unknown[]
}

/** The parts of an agent's answer that a task reads. */
export interface AgentAnswer {
  readonly text: string
  /** The messages that the turn added to the conversation; with `responseMessages`, those of the last step only. */
  readonly response: { readonly messages: readonly AgentMessage[] }
  /** AI SDK 7: the messages that the turn added to the conversation. */
  readonly responseMessages?: readonly AgentMessage[]
  /** The steps of the turn. Read from agents without a step listener, to journal their invalid calls. */
  readonly steps?: readonly AgentStep[]
}

/**
 * An agent that can do a task: `ToolLoopAgent` of the AI SDK 6 and 7, `Experimental_Agent` of 5, or any object whose
 * `generate` takes and returns these shapes.
 */
export interface TaskAgent {
  /** Set by the AI SDK from version 6, whose `generate` calls a given step listener in addition to the agent's own. */
  readonly version?: string
  readonly tools?: Readonly<Record<string, unknown>>
  generate(call: never): PromiseLike<AgentAnswer>
}
