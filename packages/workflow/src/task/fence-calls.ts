import { setTimeout as pause } from 'node:timers/promises'
import { SmithersError, type TaskContext } from '@smithers/tool-core'

/**
 * How long aborted tools may take to end by themselves, and so to record what they did. No option: longer, and Ctrl-C
 * seems not to work; shorter, and commands that are killed in order have an unknown outcome.
 */
const graceMs = 1000
const lookEveryMs = 10

/**
 * Ends the journal rows of an attempt that is over: calls that do not stop when aborted get an unknown outcome, and
 * whatever they record later is fenced off. The next attempt is warned of them like of a call whose process was killed.
 */
export async function fenceCalls({
  log,
  runId,
  nodeId,
  iteration,
  attempt,
}: TaskContext): Promise<void> {
  const query = { runId, nodeId, iteration, attempt, status: 'started' } as const
  const deadline = performance.now() + graceMs
  let running = await log.list(query)
  while (running.length > 0 && performance.now() < deadline) {
    await pause(lookEveryMs)
    running = await log.list(query)
  }
  for (const { callToken, toolName, sideEffect } of running) {
    const effect = sideEffect ? 'unknown' : 'none'
    const error = new SmithersError(
      'TOOL_INTERRUPTED',
      `The attempt ended while ${toolName} was running, and it did not stop. What it did is unknown.`,
      { effect },
    )
    await log.finish(callToken, {
      status: 'error',
      outputJson: null,
      errorJson: JSON.stringify(error),
      effect,
      finishedAtMs: Date.now(),
    })
  }
}
