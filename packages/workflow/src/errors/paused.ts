import { isSmithersError } from '@smithers/tool-core'

/** True for the error of a run that waits for an approval. Nothing has failed, and the run can be resumed. */
export function isPaused(error: unknown): boolean {
  return isSmithersError(error) && error.code === 'TOOL_APPROVAL_REQUIRED'
}
