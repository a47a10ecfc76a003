import { SmithersError } from '@smithers/tool-core'

/** An error in the workflow itself, which no retry can repair. */
export function invalidWorkflow(
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): SmithersError {
  return new SmithersError('WORKFLOW_INVALID', message, { details, effect: 'none' })
}
