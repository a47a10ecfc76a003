import { type CallMatches, type CallSearch, defaultExamined } from './log-browsing.ts'
import { listLimit, matchesQuery, selectRows } from './listing.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/** Searches rows held in memory as `search` must. */
export function searchRows<Row extends ToolCallRow>(
  rows: Iterable<Row>,
  search: CallSearch,
): CallMatches {
  const { texts, examine = defaultExamined, ...query } = search
  const { runId, startedFromMs, startedBeforeMs, after, order } = query
  const looked = selectRows(rows, {
    ...(runId !== undefined && { runId }),
    ...(startedFromMs !== undefined && { startedFromMs }),
    ...(startedBeforeMs !== undefined && { startedBeforeMs }),
    ...(after !== undefined && { after }),
    ...(order !== undefined && { order }),
    limit: examine,
  })
  const found = looked.filter(
    (row) => matchesQuery(row, query) && texts.every((text) => rowHasText(row, text)),
  )
  const limit = listLimit(search)
  const last = found.length >= limit ? found[limit - 1] : undefined
  const end = looked.length < examine ? undefined : looked.at(-1)
  return {
    rows: found.slice(0, limit).map((row) => withContentsUpTo(row, search)),
    next: last ?? end ?? null,
  }
}

/** What to look for: the text itself in names and keys, and as JSON writes it in JSON. */
export interface SearchNeedles {
  readonly text: string
  readonly json: string
}

/** {@link SearchNeedles} of a text, with the letters A to Z in lower case. */
export function searchNeedles(text: string): SearchNeedles {
  return { text: lowerLetters(text), json: lowerLetters(JSON.stringify(text).slice(1, -1)) }
}

/** The fields of a row that hold plain text, and those that hold JSON. */
export const searchedFields: {
  readonly text: readonly (keyof ToolCallRow)[]
  readonly json: readonly (keyof ToolCallRow)[]
} = {
  text: ['toolName', 'nodeId', 'idempotencyKey', 'toolCallId', 'traceId'],
  json: ['inputJson', 'outputJson', 'errorJson'],
}

/** Whether a text occurs in a row as `search` means it. */
export function rowHasText(row: ToolCallRow, searched: string): boolean {
  const { text, json } = searchNeedles(searched)
  const has = (field: keyof ToolCallRow, needle: string): boolean => {
    const value = row[field]
    return typeof value === 'string' && lowerLetters(value).includes(needle)
  }
  return (
    searchedFields.text.some((field) => has(field, text)) ||
    searchedFields.json.some((field) => has(field, json))
  )
}

/** Databases agree about the case of these letters alone. */
function lowerLetters(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** A row whose contents are cut as the query asks. */
export function withContentsUpTo<Row extends ToolCallRow>(
  row: Row,
  { contentsUpTo }: { readonly contentsUpTo?: number },
): Row {
  if (contentsUpTo === undefined) return row
  const { inputJson, outputJson, errorJson, networkJson } = row
  return {
    ...row,
    inputJson: cut(inputJson, contentsUpTo),
    outputJson: cut(outputJson, contentsUpTo),
    errorJson: cut(errorJson, contentsUpTo),
    ...(networkJson !== undefined && { networkJson: cut(networkJson, contentsUpTo) }),
  }
}

// By code points, as databases count.
function cut(text: string | null, length: number): string | null {
  if (text === null || text.length <= length) return text
  return Array.from(text.slice(0, 2 * length))
    .slice(0, length)
    .join('')
}
