import type { TaskContext } from '../tool-context.ts'
import type { EffectScope, ToolDefinition } from './tool-definition.ts'

// A row does not say where its effect landed, and a warning is written before any call of the attempt, so the tools
// that this process has defined are asked by name.
const scopes = new Map<string, ToolDefinition['effectScope']>()

/** Remembers where the effects of a tool land. Of two tools of one name the external one counts: it is told in full. */
export function rememberEffectScope({ metadata, effectScope }: ToolDefinition): void {
  if (!metadata.sideEffect) return
  if (scopes.get(metadata.name) !== 'external') scopes.set(metadata.name, effectScope)
}

/** Where the effects of a tool land in a task; external when the tool is not known. */
export function effectScopeOf(toolName: string, task: TaskContext): EffectScope {
  const scope = scopes.get(toolName) ?? 'external'
  return typeof scope === 'function' ? scope(task) : scope
}
