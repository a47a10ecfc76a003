import { SmithersError } from '../errors/smithers-error.ts'
import type { ToolCallCursor, ToolCallQuery } from './tool-call-log.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/** `list` returns at most this many rows unless the query says otherwise. */
export const defaultListLimit = 1000

/**
 * The most rows that a listing may return: a positive integer, or `Infinity`.
 *
 * @throws SmithersError `INVALID_INPUT` when the query asks for another number.
 */
export function listLimit({ limit = defaultListLimit }: ToolCallQuery): number {
  if (limit === Infinity || (Number.isInteger(limit) && limit > 0)) return limit
  throw new SmithersError(
    'INVALID_INPUT',
    `limit must be a positive integer or Infinity, got ${limit}.`,
    { details: { limit } },
  )
}

/** True when a listing is ordered by attempt and seq: the query names one task. */
export function isTaskListing(query: ToolCallQuery): boolean {
  return query.runId !== undefined && query.nodeId !== undefined && query.iteration !== undefined
}

/** Selects, orders and cuts rows held in memory as `list` must. */
export function selectRows<Row extends ToolCallRow>(
  rows: Iterable<Row>,
  query: ToolCallQuery,
): Row[] {
  const { after } = query
  const limit = listLimit(query)
  const compare = rowOrder(query)
  const selected: Row[] = []
  for (const row of rows) {
    if (matchesQuery(row, query) && (after === undefined || compare(row, after) > 0)) {
      selected.push(row)
    }
  }
  return selected.toSorted(compare).slice(0, limit)
}

/** True when a row meets every condition of a query; cursor and limit are not conditions. */
export function matchesQuery(row: ToolCallRow, query: ToolCallQuery): boolean {
  const { beforeAttempt, startedFromMs, startedBeforeMs } = query
  return (
    equalFields.every((field) => query[field] === undefined || query[field] === row[field]) &&
    (beforeAttempt === undefined || row.attempt < beforeAttempt) &&
    (startedFromMs === undefined || row.startedAtMs >= startedFromMs) &&
    (startedBeforeMs === undefined || row.startedAtMs < startedBeforeMs)
  )
}

/** The fields of a query that must equal the row's. */
export const equalFields: readonly (keyof ToolCallQuery & keyof ToolCallRow)[] = [
  'runId',
  'nodeId',
  'iteration',
  'attempt',
  'toolName',
  'status',
  'idempotencyKey',
  'toolCallId',
  'callToken',
  'inputHash',
  'approvalId',
]

function rowOrder(query: ToolCallQuery): (a: ToolCallCursor, b: ToolCallCursor) => number {
  const sign = query.order === 'descending' ? -1 : 1
  const primary = isTaskListing(query) ? ('attempt' as const) : ('startedAtMs' as const)
  return (a, b) =>
    sign * (a[primary] - b[primary] || a.seq - b.seq || compareTokens(a.callToken, b.callToken))
}

function compareTokens(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
