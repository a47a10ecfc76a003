import type { StartResult, ToolCallLog } from '@smithers/tool-core/log'

/** The calls that a log has the start of, and not yet the end. */
export interface OpenCalls {
  /** The log, which must be used in place of the one that was given. */
  readonly log: ToolCallLog
  /** Settles once every call has its end in the log, or after so many milliseconds. */
  ended(graceMs: number): Promise<void>
}

/** Counts the calls in a log from their start to their end. */
export function openCallsOf(log: ToolCallLog): OpenCalls {
  const open = new Set<string>()
  const waiting = new Set<() => void>()
  const end = (callToken: string): void => {
    open.delete(callToken)
    if (open.size === 0) for (const resolve of waiting) resolve()
  }
  const counted: Pick<ToolCallLog, 'start' | 'finish'> = {
    start(row, options) {
      const noted = (result: StartResult): StartResult => {
        if (result.ok) open.add(row.callToken)
        return result
      }
      const result = log.start(row, options)
      return 'then' in result ? result.then(noted) : noted(result)
    },
    finish(callToken, patch) {
      const noted = (result: 'ok' | 'fenced'): 'ok' | 'fenced' => {
        end(callToken)
        return result
      }
      const result = log.finish(callToken, patch)
      return typeof result === 'string' ? noted(result) : result.then(noted)
    },
  }
  return {
    // It inherits the rest, with what marks the log as one that answers in time.
    log: Object.assign(Object.create(log) as ToolCallLog, counted),
    async ended(graceMs) {
      if (open.size === 0) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, graceMs)
      waiting.add(resolve)
      await promise
      waiting.delete(resolve)
      clearTimeout(timer)
    },
  }
}
