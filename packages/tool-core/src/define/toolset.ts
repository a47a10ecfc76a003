import type { AnyDefinedTool } from '../contract/defined-tool.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { getDefinedToolMetadata, type toolMetadata } from '../contract/tool-metadata.ts'

/** A tool name as a provider accepts it: every other character becomes `_`. */
export type SafeToolName<Name extends string> = string extends Name
  ? string
  : Name extends `${infer Head}.${infer Tail}`
    ? `${Head}_${SafeToolName<Tail>}`
    : Name

const longestName = 64

/**
 * Builds the `tools` object of an agent, keyed by names that every provider accepts: letters, digits, `_` and `-`, at
 * most 64. `ctx.toolName` keeps the declared name.
 *
 * @throws SmithersError `INVALID_TOOL` when two names become one, a name is too long, or a value is not a defined tool.
 * @example
 * toolset([read, placeOrder]) // { read, wholefoods_place_order }
 */
export function toolset<const Tools extends readonly AnyDefinedTool[]>(
  tools: Tools,
): ToolsByName<Tools> {
  const named: Record<string, unknown> = {}
  const takenBy = new Map<string, string>()
  for (const tool of tools) {
    const metadata = getDefinedToolMetadata(tool)
    if (metadata === null) {
      throw new SmithersError(
        'INVALID_TOOL',
        'toolset takes tools made with defineTool. Add other tools to the object it returns.',
      )
    }
    const { name } = metadata
    const safe = name.replaceAll(/[^\w-]/g, '_')
    const taken = takenBy.get(safe)
    if (taken !== undefined) {
      throw new SmithersError(
        'INVALID_TOOL',
        `Tools "${taken}" and "${name}" would both be called "${safe}". Rename one.`,
        { details: { names: [taken, name], safeName: safe } },
      )
    }
    if (safe.length > longestName) {
      throw new SmithersError(
        'INVALID_TOOL',
        `Tool name "${name}" has ${safe.length} characters; providers accept at most ${longestName}.`,
        { details: { name, length: safe.length, limit: longestName } },
      )
    }
    takenBy.set(safe, name)
    named[safe] = tool
  }
  return named as ToolsByName<Tools>
}

/** The object that {@link toolset} builds. */
export type ToolsByName<Tools extends readonly unknown[]> = {
  readonly [Index in keyof Tools & `${number}` as SafeToolName<NameOf<Tools[Index]>>]: Tools[Index]
}

type NameOf<Tool> = Tool extends {
  readonly [toolMetadata]: { readonly name: infer Name extends string }
}
  ? Name
  : string
