import { defaultExamined, listLimit, searchedFields, searchNeedles } from '@smithers/tool-core/log'
import type { CallMatches, CallSearch, ToolCallCursor } from '@smithers/tool-core/log'
import { callColumns, callFrom } from './call-rows.ts'
import { type Condition, listQuery } from './list-query.ts'
import type { LogConnection } from './log-connection.ts'
import { originalText, storedText } from './stored-text.ts'

/** Searches the next rows: first finds in an index where they end, then reads those up to there. */
export function searchOn(connection: LogConnection, search: CallSearch): Promise<CallMatches> {
  // A listing of one task has an order of its own, so the task is a condition like the texts.
  const { examine = defaultExamined, texts, nodeId, ...query } = search
  const limit = listLimit(search)
  const toolCalls = callsFor(connection, search)
  return connection.read('search calls', async () => {
    const end = await endOfLook(connection, search, examine)
    const further = texts.map(occurs)
    if (nodeId !== undefined) {
      further.push((parameter) => `node_id = ${parameter(storedText(nodeId))}`)
    }
    if (end !== undefined) further.push(upTo(end, search))
    const { text, values } = listQuery(toolCalls, { ...query, limit }, further)
    const rows = (await connection.query(text, values)).rows.map(callFrom)
    const full = rows.length === limit ? rows.at(-1) : undefined
    return { rows, next: full ?? end ?? null }
  })
}

/** One run is searched in the archive as well. */
function callsFor({ tables }: LogConnection, { runId }: CallSearch): string {
  return runId === undefined ? tables.toolCalls : tables.allCalls
}

async function endOfLook(
  connection: LogConnection,
  search: CallSearch,
  examine: number,
): Promise<ToolCallCursor | undefined> {
  if (examine === Infinity) return undefined
  const { runId, startedFromMs, startedBeforeMs, after, order } = search
  const { text, values } = listQuery(
    callsFor(connection, search),
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
  const offset = `$${values.length + 1}`
  const { rows } = await connection.query(`${text} OFFSET ${offset}`, [...values, examine - 1])
  const [row] = rows
  if (row === undefined) return undefined
  return {
    attempt: 0,
    startedAtMs: Number(row['started_at_ms']),
    seq: Number(row['seq']),
    callToken: originalText(String(row['call_token'])),
  }
}

function upTo(end: ToolCallCursor, { order }: CallSearch): Condition {
  const sign = order === 'descending' ? '>=' : '<='
  return (parameter) =>
    `(started_at_ms, seq, call_token) ${sign} (${parameter(end.startedAtMs)}, ${parameter(end.seq)}, ${parameter(end.callToken)})`
}

function occurs(text: string): Condition {
  const { text: plain, json } = searchNeedles(text)
  return (parameter) => {
    const [inPlain, inJson] = [parameter(plain), parameter(json)]
    return `(${[
      ...searchedFields.text.map((field) => has(field, inPlain)),
      ...searchedFields.json.map((field) => has(field, inJson)),
    ].join(' OR ')})`
  }
}

// In byte order the letters A to Z alone have another case.
function has(field: keyof typeof callColumns, needle: string): string {
  return `strpos(lower(${callColumns[field][0]} COLLATE "C"), ${needle}) > 0`
}
