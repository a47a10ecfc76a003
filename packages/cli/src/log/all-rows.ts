import type { ToolCallLog, ToolCallQuery, ToolCallRow } from '@smithers/tool-core/log'

const pageSize = 500

/** Every matching row, page by page, so that a long log needs little memory. */
export async function* allRows(
  log: Pick<ToolCallLog, 'list'>,
  query: Omit<ToolCallQuery, 'limit' | 'after'>,
): AsyncGenerator<ToolCallRow> {
  let after: ToolCallRow | undefined
  for (;;) {
    const page = await log.list({
      ...query,
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    })
    yield* page
    if (page.length < pageSize) return
    after = page.at(-1)
  }
}

/** {@link allRows} as a list, for short logs. */
export async function collectRows(
  log: ToolCallLog,
  query: Omit<ToolCallQuery, 'limit' | 'after'>,
): Promise<ToolCallRow[]> {
  const rows: ToolCallRow[] = []
  for await (const row of allRows(log, query)) rows.push(row)
  return rows
}
