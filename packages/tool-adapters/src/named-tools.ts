import { type AnyDefinedTool, toolset } from '@smithers/tool-core'
import { adaptTool, isForeignTool } from './foreign-tool.ts'

/**
 * Tools by name, with foreign objects adapted.
 *
 * @throws SmithersError `INVALID_TOOL`
 */
export function namedTools(
  tools: readonly unknown[] | Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (Array.isArray(tools)) {
    return toolset(tools.map((tool: unknown) => adapted(tool)) as AnyDefinedTool[])
  }
  const named = Object.entries(tools).map(([name, tool]) => [name, adapted(tool, name)])
  return Object.fromEntries(named) as Record<string, unknown>
}

function adapted(tool: unknown, name?: string): unknown {
  if (!isForeignTool(tool)) return tool
  const { name: own = name } = tool
  return adaptTool(tool, own === undefined ? {} : { name: own })
}
