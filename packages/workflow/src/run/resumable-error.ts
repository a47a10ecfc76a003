import { isSmithersError, SmithersError } from '@smithers/tool-core'

/** The error with the id that resumes the run, in its message and in `details.runId`. */
export function resumableError(error: unknown, runId: string): SmithersError {
  const details = { ...(isSmithersError(error) ? error.details : {}), runId }
  const message = error instanceof Error ? error.message : String(error)
  const code = isSmithersError(error) ? error.code : 'TASK_FAILED'
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`
  return new SmithersError(code, `${sentence} Resume with runId "${runId}".`, {
    details,
    cause: isSmithersError(error) && error.cause !== undefined ? error.cause : error,
  })
}
