import type { ToolCallCursor, ToolCallRow } from '@smithers/tool-core/log'
import type { RunResponse } from '../api/calls.ts'
import type { LogReader } from '../reading/log-reader.ts'

/** Rows that are held at a time, each with up to some hundred kilobytes of contents. */
const pageSize = 100

/** The rows of the attempts of a run, whole, in the order of the timeline, page by page. */
export async function* exportedRows(
  reader: LogReader,
  { run: { runId }, groups }: RunResponse,
): AsyncGenerator<readonly ToolCallRow[]> {
  for (const { nodeId, iteration, attempt } of groups) {
    let after: ToolCallCursor | undefined
    for (;;) {
      const page = await reader.log.list({
        runId,
        nodeId,
        iteration,
        attempt,
        limit: pageSize,
        ...(after !== undefined && { after }),
      })
      if (page.length > 0) yield page
      after = page.at(-1)
      if (page.length < pageSize) break
    }
  }
}
