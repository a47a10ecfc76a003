import {
  createToolContext,
  isSmithersError,
  SmithersError,
  type TaskContext,
  type ToolRunOptions,
} from '@smithers/tool-core'

/**
 * The context for these options, created before any attempt because no retry can repair an option.
 *
 * @throws SmithersError `INVALID_INPUT`, with the option's name in the workflow API.
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
