import { type BuiltinTools, createBuiltinTools } from '@smithers/builtin-tools'
import { withGates } from '@smithers/tool-core'
import { approvalPrompts, type ToolName } from './tool-names.ts'

/** Which calls need approval. */
export interface Asking {
  readonly tools: readonly ToolName[]
  /** Only the first call for each file, not every one. */
  readonly oncePerFile: boolean
}

/** The built-in tools, with approval required for calls of the named ones. */
export function askedTools({ tools: names, oncePerFile }: Asking): BuiltinTools {
  // What is not enforced was printed when the run began.
  const tools = createBuiltinTools({ warn() {} })
  const asked = new Set<string>()
  const needsApproval = ({ path }: { readonly path?: string }): boolean => {
    if (!oncePerFile || path === undefined) return true
    const isFirst = !asked.has(path)
    asked.add(path)
    return isFirst
  }
  const gated = names.map((name) => [
    name,
    withGates<{ execute: (args: { path?: string }, options: never) => unknown }>(
      tools[name] as never,
      { needsApproval, approvalPrompt: approvalPrompts[name] },
    ),
  ])
  return { ...tools, ...Object.fromEntries(gated) } as BuiltinTools
}
