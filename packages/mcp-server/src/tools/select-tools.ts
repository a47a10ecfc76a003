import {
  approvalFor,
  type AnyDefinedTool,
  getDefinedToolMetadata,
  SmithersError,
  toolset,
  withGates,
} from '@smithers/tool-core'
import type { ServedTool, ToolFields } from './served-tool.ts'
import { listedTool } from './listed-tool.ts'

/** Which tools to serve, and how. */
export interface ToolSelection {
  readonly tools: readonly AnyDefinedTool[]
  readonly only: readonly string[] | undefined
  readonly readOnly: boolean
  readonly ask: readonly string[]
  /** Whether a tool reaches what the server does not know, such as the network; undefined when that is not known. */
  readonly isOpenWorld: (name: string) => boolean | undefined
}

/**
 * The tools to serve by the names that clients call them by, sorted.
 *
 * @throws SmithersError `INVALID_INPUT` for a name that no tool has, or when nothing is left; `INVALID_TOOL` for a tool
 *   that cannot be offered
 */
export function selectTools(selection: ToolSelection): ReadonlyMap<string, ServedTool> {
  const { only, readOnly, ask, isOpenWorld } = selection
  const all = toolset(selection.tools) as Readonly<Record<string, AnyDefinedTool>>
  refuseUnknown('tools', only ?? [], all)
  refuseUnknown('ask', ask, all)
  const served = new Map<string, ServedTool>()
  for (const name of Object.keys(all).toSorted()) {
    const plain = all[name]
    const metadata = plain && getDefinedToolMetadata(plain)
    if (plain === undefined || metadata === null || metadata === undefined) continue
    const isNamed = (list: readonly string[]): boolean =>
      list.includes(name) || list.includes(metadata.name)
    if (only !== undefined && !isNamed(only)) continue
    if (readOnly && metadata.sideEffect) continue
    const tool: AnyDefinedTool & ToolFields = isNamed(ask) ? asked(plain) : plain
    const { sideEffect, idempotent } = metadata
    const openWorld = isOpenWorld(name)
    const listed = listedTool({ name, tool, sideEffect, idempotent, openWorld })
    const asks = Object.keys(approvalFor({ tool })).length > 0
    served.set(name, Object.freeze({ name, tool, sideEffect, idempotent, asks, listed }))
  }
  if (served.size > 0) return served
  throw new SmithersError('INVALID_INPUT', 'MCP server: no tool is left to serve.', {
    effect: 'none',
  })
}

function asked(tool: AnyDefinedTool): AnyDefinedTool {
  return withGates(tool as AnyDefinedTool & GateableTool, { needsApproval: true })
}

/** As `withGates` takes tools: the arguments of one that is not known have no type to speak of. */
interface GateableTool {
  readonly execute: (args: never, options: never) => Promise<unknown> | AsyncGenerator
}

function refuseUnknown(
  option: string,
  wanted: readonly string[],
  tools: Readonly<Record<string, AnyDefinedTool>>,
): void {
  const known = Object.entries(tools).flatMap(([name, tool]) => [
    name,
    getDefinedToolMetadata(tool)?.name,
  ])
  const unknown = wanted.find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new SmithersError(
    'INVALID_INPUT',
    `MCP server: ${option} names ${JSON.stringify(unknown)}, which is not one of ${Object.keys(tools).join(', ')}.`,
    { effect: 'none' },
  )
}
