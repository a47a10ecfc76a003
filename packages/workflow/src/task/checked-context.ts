import {
  createToolContext,
  isSmithersError,
  SmithersError,
  type TaskContext,
  type ToolRunOptions,
} from '@smithers/tool-core'

/**
 * The context that options make, before any attempt: no retry can mend an option.
 *
 * @throws SmithersError `INVALID_INPUT`, naming the option as users of tasks know it.
 */
export function checkedContext(options: ToolRunOptions): TaskContext {
  try {
    return createToolContext(options)
  } catch (error) {
    if (!isSmithersError(error) || error.details['option'] !== 'timeoutMs') throw error
    const message = error.message.replace(/^timeoutMs/, 'toolTimeoutMs')
    throw new SmithersError(error.code, message, {
      details: { ...error.details, option: 'toolTimeoutMs' },
      cause: error,
    })
  }
}
