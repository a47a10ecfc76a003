import type { ToolDefinition } from '../contract/tool-definition.ts'

/** What the log may see of a tool's arguments. */
export function loggedInput({ logInput }: ToolDefinition, args: unknown): unknown {
  return logInput === undefined ? args : mapped(logInput, args)
}

/** What the log may see of a tool's output. */
export function loggedOutput({ logOutput }: ToolDefinition, output: unknown): unknown {
  return logOutput === undefined ? output : mapped(logOutput, output)
}

/** A mapper of a payload for the log must not fail the call, and its failure must not show the payload. */
function mapped(mapper: (value: never) => unknown, value: unknown): unknown {
  try {
    return mapper(value as never)
  } catch (error) {
    return {
      $described: `not recorded: the mapper failed with ${error instanceof Error ? error.name : 'an error'}`,
    }
  }
}
