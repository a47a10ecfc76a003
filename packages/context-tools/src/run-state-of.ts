import { type RunStateStore, SmithersError, type ToolContext } from '@smithers/tool-core'

/**
 * The state of the run of a call.
 *
 * @throws SmithersError `TOOL_LOG_UNAVAILABLE` when the log keeps none.
 */
export function runStateOf({ log, toolName }: ToolContext): RunStateStore {
  if (log.state !== undefined && log.capabilities.state === true) return log.state
  throw new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `${toolName} needs a log that keeps the state of runs, and the log "${log.name}" does not. Use one whose capabilities.state is true.`,
    { details: { log: log.name }, effect: 'none' },
  )
}
