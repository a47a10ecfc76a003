import type { ToolCallLog } from '@smithers/tool-core'

/** The number of the next attempt: one more than the last attempt of this task in the log. */
export async function nextAttempt(
  log: ToolCallLog,
  task: { readonly runId: string; readonly nodeId: string; readonly iteration: number },
): Promise<number> {
  const [last] = await log.list({ ...task, order: 'descending', limit: 1 })
  return (last?.attempt ?? 0) + 1
}
