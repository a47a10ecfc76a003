import type { WorkflowDefinition } from '@smithers/workflow'

/** Checks the shape and not the class, since another copy of the package may have created it. */
export function looksLikeWorkflow(value: unknown): value is WorkflowDefinition {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { render?: unknown }).render === 'function' &&
    (value as { outputs?: unknown }).outputs instanceof Map
  )
}
