import { setTimeout as pause } from 'node:timers/promises'
import { SmithersError, type TaskContext } from '@smithers/tool-core'
import { boundedLog, nowOf } from '@smithers/tool-core/log'

/**
 * How long aborted tools may take to end and record what they did, in milliseconds. Not an option: longer, and Ctrl-C
 * seems not to work; shorter, and commands that end cleanly get an unknown outcome.
 */
const graceMs = 1000
const pollMs = 10

/**
 * Finishes the journal rows of an attempt that is over. Calls that do not stop when aborted get an unknown outcome, and
 * what they record later is ignored. The next attempt is warned of them as of calls whose process was killed.
 */
export async function fenceCalls(
  { log: unbounded, runId, nodeId, iteration, attempt }: TaskContext,
  logTimeoutMs: number,
): Promise<void> {
  const log = boundedLog(unbounded, logTimeoutMs)
  const query = { runId, nodeId, iteration, attempt, status: 'started' } as const
  const deadline = performance.now() + graceMs
  let running = await log.list(query)
  while (running.length > 0 && performance.now() < deadline) {
    await pause(pollMs)
    running = await log.list(query)
  }
  for (const { callToken, toolName, sideEffect } of running) {
    const effect = sideEffect ? 'unknown' : 'none'
    const error = new SmithersError(
      'TOOL_INTERRUPTED',
      `The attempt ended while ${toolName} was running, and the call did not stop. Its effect is unknown.`,
      { effect },
    )
    await log.finish(callToken, {
      status: 'error',
      outputJson: null,
      errorJson: JSON.stringify(error),
      effect,
      finishedAtMs: nowOf(unbounded),
    })
  }
}
