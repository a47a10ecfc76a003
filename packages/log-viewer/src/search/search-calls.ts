import { rowHasText } from '@smithers/tool-core/log'
import type { CallMatches, CallSearch, ToolCallCursor, ToolCallRow } from '@smithers/tool-core/log'
import type { SearchResponse } from '../api/search.ts'
import { summarizedContents } from '../reading/call-summary.ts'
import type { LogReader } from '../reading/log-reader.ts'
import { callFilter } from './call-filter.ts'
import { parseQuery } from './parse-query.ts'

/** What to look for. */
export interface SearchRequest {
  readonly query: string
  readonly limit: number
  readonly runId?: string | undefined
  readonly cursor?: string | undefined
}

/** Looks for calls, the newest first, in steps of the log's: a page ends when it is full or has taken too long. */
export async function searchCalls(
  reader: LogReader,
  request: SearchRequest,
): Promise<SearchResponse> {
  const version = await reader.version()
  const { terms, problems } = parseQuery(request.query)
  const nowMs = reader.nowMs()
  const filter = callFilter(terms, { runId: request.runId, nowMs })
  const found: ToolCallRow[] = []
  const deadline = performance.now() + longestSearchMs
  let after = cursorFrom(request.cursor)
  let examined = 0
  let stopped = false
  do {
    if (examined > 0 && performance.now() > deadline) {
      stopped = true
      break
    }
    // Further tests may reject what the log finds, so more is asked for than a page holds.
    const { rows, next } = await step(reader, {
      ...filter.search,
      limit: 500,
      examine: stepRows,
      contentsUpTo: filter.excludedTexts.length > 0 ? Infinity : summarizedContents,
      ...(after !== undefined && { after }),
    })
    examined += stepRows
    after = next ?? undefined
    for (const row of rows) {
      if (!filter.accepts(row)) continue
      if (filter.excludedTexts.some((text) => rowHasText(row, text))) continue
      found.push(row)
      if (found.length < request.limit) continue
      after = row
      break
    }
  } while (after !== undefined && found.length < request.limit)
  return {
    calls: await reader.summaries(found),
    nextCursor: after === undefined ? null : cursorText(after),
    terms,
    problems,
    examined,
    stopped,
    version,
  }
}

async function step(
  reader: LogReader,
  { contentsUpTo, ...search }: CallSearch,
): Promise<CallMatches> {
  const whole = contentsUpTo === Infinity ? {} : { contentsUpTo: contentsUpTo ?? Infinity }
  if (reader.log.search !== undefined) return await reader.log.search({ ...search, ...whole })
  const { texts, examine = stepRows, limit: _, ...query } = search
  // The log cannot search: its rows are read, and looked through here.
  const rows = await reader.log.list({ ...query, limit: examine })
  const last = rows.length < examine ? undefined : rows.at(-1)
  return {
    rows: rows.filter((row) => texts.every((text) => rowHasText(row, text))),
    next: last ?? null,
  }
}

const stepRows = 10_000
const longestSearchMs = 1000

function cursorText({ attempt, seq, startedAtMs, callToken }: ToolCallCursor): string {
  return Buffer.from(JSON.stringify([attempt, seq, startedAtMs, callToken])).toString('base64url')
}

function cursorFrom(cursor: string | undefined): ToolCallCursor | undefined {
  if (cursor === undefined) return undefined
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const [attempt, seq, startedAtMs, callToken] = parts
    const isOurs =
      typeof attempt === 'number' && typeof seq === 'number' && typeof startedAtMs === 'number'
    if (isOurs && typeof callToken === 'string') return { attempt, seq, startedAtMs, callToken }
  } catch {
    // Not one of ours: begin with the newest call.
  }
  return undefined
}
