import { isSmithersError } from '@smithers/tool-core'

/** True for the error of a run that waits for an approval: nothing has failed, and resuming goes on. */
export function isPaused(error: unknown): boolean {
  return isSmithersError(error) && error.code === 'TOOL_APPROVAL_REQUIRED'
}
