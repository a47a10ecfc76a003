import type { ToolRunOptions } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import type { AgentMessage, TaskAgent } from './agent.ts'

/** A task with every option resolved. */
export interface ResolvedTask {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  /** The number of the next attempt. */
  readonly firstAttempt: number
  readonly schema: ZodType | null
  readonly retries: number
  /** Pause before the second attempt, in milliseconds; doubles with each. */
  readonly backoffMs: number
  readonly timeoutMs: number | null
  readonly signal: AbortSignal
  /** Keys of calls that may run once although an earlier call may have had the same effect. */
  readonly allow: readonly string[]
  /** Options for the context of every attempt. */
  readonly toolOptions: ToolRunOptions
  readonly work: {
    readonly agent: TaskAgent | null
    readonly tools: Readonly<Record<string, unknown>>
    readonly messages: readonly AgentMessage[]
    /** The prompt, the output, or a function that returns it. */
    readonly content: unknown
    readonly repairs: number
  }
}
