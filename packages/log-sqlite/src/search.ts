import { defaultExamined, listLimit, searchedFields, searchNeedles } from '@smithers/tool-core/log'
import type { CallMatches, CallSearch, ToolCallCursor } from '@smithers/tool-core/log'
import { type Condition, listQuery } from './list-query.ts'
import type { LogConnection } from './log-connection.ts'
import { bindText, columnOf, rowFromColumns, unbound } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'

/** Searches the next rows: first finds in an index where they end, then reads those up to there. */
export function searchOn(connection: LogConnection, search: CallSearch): CallMatches {
  // A listing of one task has an order of its own, so the task is a condition like the texts.
  const { examine = defaultExamined, texts, nodeId, ...query } = search
  const limit = listLimit(search)
  return connection.read('search calls', () => {
    const end = endOfLook(connection, search, examine)
    const further = texts.map(occurs)
    if (nodeId !== undefined) further.push(inTask(nodeId))
    if (end !== undefined) further.push(upTo(end, search))
    const { sql, values } = listQuery({ ...query, limit }, further)
    const rows = connection
      .prepare(sql)
      .all(...values)
      .map(rowFromColumns)
    const full = rows.length === limit ? rows.at(-1) : undefined
    return { rows, next: full ?? end ?? null }
  })
}

function endOfLook(
  connection: LogConnection,
  search: CallSearch,
  examine: number,
): ToolCallCursor | undefined {
  if (examine === Infinity) return undefined
  const { runId, startedFromMs, startedBeforeMs, after, order } = search
  const { sql, values } = listQuery(
    {
      ...(runId !== undefined && { runId }),
      ...(startedFromMs !== undefined && { startedFromMs }),
      ...(startedBeforeMs !== undefined && { startedBeforeMs }),
      ...(after !== undefined && { after }),
      ...(order !== undefined && { order }),
      limit: 1,
    },
    [],
    'started_at_ms, seq, call_token',
  )
  const columns = connection.prepare(`${sql} OFFSET ?`).get(...values, examine - 1)
  if (columns === undefined) return undefined
  const { started_at_ms: startedAtMs, seq, call_token: token } = columns as Record<string, SqlValue>
  return {
    attempt: 0,
    startedAtMs: startedAtMs as number,
    seq: seq as number,
    callToken: unbound(token) as string,
  }
}

function upTo(end: ToolCallCursor, { order }: CallSearch): Condition {
  const sign = order === 'descending' ? '>=' : '<='
  return {
    sql: `(started_at_ms, seq, call_token) ${sign} (?, ?, ?)`,
    values: [end.startedAtMs, end.seq, bindText(end.callToken)],
  }
}

function inTask(nodeId: string): Condition {
  return { sql: 'node_id = ?', values: [bindText(nodeId)] }
}

function occurs(text: string): Condition {
  const { text: plain, json } = searchNeedles(text)
  return {
    sql: `(${[...searchedFields.text, ...searchedFields.json].map(has).join(' OR ')})`,
    values: [...searchedFields.text.map(() => plain), ...searchedFields.json.map(() => json)],
  }
}

function has(field: keyof typeof columnOf): string {
  return `instr(lower(${columnOf[field]}), ?) > 0`
}
