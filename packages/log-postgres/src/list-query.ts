import { equalFields, isTaskListing, listLimit } from '@smithers/tool-core/log'
import type { ToolCallQuery } from '@smithers/tool-core/log'
import { callColumns, selectedColumns } from './call-rows.ts'
import type { PostgresValue } from './postgres-pool.ts'
import { storedText } from './stored-text.ts'

/** The statement of one listing. Every order has an index, so a page costs the same at any depth. */
export function listQuery(
  toolCalls: string,
  query: ToolCallQuery,
): { readonly text: string; readonly values: PostgresValue[] } {
  const conditions: string[] = []
  const values: PostgresValue[] = []
  const parameter = (value: string | number): string => {
    values.push(typeof value === 'string' ? storedText(value) : value)
    return `$${values.length}`
  }
  for (const field of equalFields) {
    const value = query[field]
    if (value !== undefined) conditions.push(`${callColumns[field][0]} = ${parameter(value)}`)
  }
  const compared = [
    ['attempt <', query.beforeAttempt],
    ['started_at_ms >=', query.startedFromMs],
    ['started_at_ms <', query.startedBeforeMs],
  ] as const
  for (const [condition, value] of compared) {
    if (value !== undefined) conditions.push(`${condition} ${parameter(value)}`)
  }

  const descending = query.order === 'descending'
  const ordered = isTaskListing(query) ? taskOrder : timeOrder
  if (query.after !== undefined) {
    const { after } = query
    const places = ordered.map((field) => parameter(after[field])).join(', ')
    const columns = ordered.map((field) => callColumns[field][0]).join(', ')
    conditions.push(`(${columns}) ${descending ? '<' : '>'} (${places})`)
  }

  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = ordered
    .map((field) => callColumns[field][0] + (descending ? ' DESC' : ''))
    .join(', ')
  const limit = listLimit(query)
  const most = limit === Infinity ? '' : ` LIMIT ${parameter(limit)}`
  return {
    text: `SELECT ${selectedColumns} FROM ${toolCalls}${where} ORDER BY ${order}${most}`,
    values,
  }
}

// Attempt and seq are unique within a task, so the token that breaks ties elsewhere would only cost the index.
const taskOrder = ['attempt', 'seq'] as const
const timeOrder = ['startedAtMs', 'seq', 'callToken'] as const
