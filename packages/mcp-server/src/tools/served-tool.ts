import type { AnyDefinedTool } from '@smithers/tool-core'
import type { Tool } from '@modelcontextprotocol/server'

/** What a defined tool has beside the fields of its type, as the AI SDK takes them. */
export interface ToolFields {
  readonly title?: string
  readonly outputSchema?: unknown
  readonly toModelOutput?: (given: {
    readonly toolCallId: string
    readonly input: unknown
    readonly output: unknown
  }) => unknown
}

/** A tool as the server offers and calls it. */
export interface ServedTool {
  /** The name that providers accept, by which clients call it. */
  readonly name: string
  readonly tool: AnyDefinedTool & ToolFields
  readonly sideEffect: boolean
  readonly idempotent: boolean
  /** Some of its calls wait for approval. */
  readonly asks: boolean
  /** As clients list it. */
  readonly listed: Tool
}
