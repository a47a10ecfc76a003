import type { GateOptions } from '../contract/gate-options.ts'
import { SmithersError } from '../errors/smithers-error.ts'

/** Under this key a tool carries how to define it anew with other gates. */
export const redefineKey: unique symbol = Symbol.for('smithers.tool.redefine') as never

/** A tool that can be defined anew. */
export interface Redefinable {
  readonly [redefineKey]?: (gates: object) => unknown
}

/** What every tool of the AI SDK has that runs. */
export interface GateableTool {
  readonly execute: (args: never, options: never) => unknown
}

/** The arguments that a tool takes. */
export type ArgumentsOf<Tool extends GateableTool> = Parameters<Tool['execute']>[0]

/**
 * Returns a copy of a defined tool with gates in place of its own, for tools defined elsewhere. Bind it to a
 * run afterwards: the copy belongs to none.
 *
 * @throws SmithersError `INVALID_TOOL` for gates that do not fit the tool, and for anything but a defined tool.
 * @example
 * const careful = { ...tools, bash: withGates(tools.bash, { needsApproval: true, approvalPrompt: 'Run {{cmd}}?' }) }
 */
export function withGates<Tool extends GateableTool>(
  tool: Tool,
  gates: GateOptions<ArgumentsOf<Tool>>,
): Tool {
  const { [redefineKey]: redefine } = tool as Redefinable
  if (redefine === undefined) {
    throw new SmithersError(
      'INVALID_TOOL',
      'withGates takes a tool made with defineTool or createTool.',
    )
  }
  return redefine(gates) as Tool
}
