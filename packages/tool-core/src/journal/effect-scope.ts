import type { EffectScope } from '../log/tool-call-row.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'

/**
 * Where the effect of a call lands, for its row: a later attempt may have other settings, such as no network, which say
 * nothing about the calls of this one. External, which a warning lists in full, when the tool cannot say.
 */
export function effectScopeOf(
  { metadata, effectScope }: ToolDefinition,
  task: TaskContext,
): EffectScope | null {
  if (!metadata.sideEffect) return null
  if (typeof effectScope !== 'function') return effectScope
  try {
    return effectScope(task) === 'workspace' ? 'workspace' : 'external'
  } catch {
    return 'external'
  }
}
