import { SmithersError } from '@smithers/tool-core'

/** The workflow itself is wrong: nothing that a retry could mend. */
export function invalidWorkflow(
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): SmithersError {
  return new SmithersError('WORKFLOW_INVALID', message, { details, effect: 'none' })
}
