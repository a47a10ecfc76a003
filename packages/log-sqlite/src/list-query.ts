import { equalFields, isTaskListing, listLimit } from '@smithers/tool-core/log'
import type { ToolCallQuery } from '@smithers/tool-core/log'
import { bindText, columnOf, selectedColumns } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'

/** The statement and its values for one listing. Every order has an index, so a page costs the same at any depth. */
export function listQuery(query: ToolCallQuery): { sql: string; values: SqlValue[] } {
  const conditions: string[] = []
  const values: SqlValue[] = []
  for (const field of equalFields) {
    const value = query[field]
    if (value === undefined) continue
    conditions.push(`${columnOf[field]} = ?`)
    values.push(typeof value === 'string' ? bindText(value) : value)
  }
  const compared = [
    ['attempt < ?', query.beforeAttempt],
    ['started_at_ms >= ?', query.startedFromMs],
    ['started_at_ms < ?', query.startedBeforeMs],
  ] as const
  for (const [condition, value] of compared) {
    if (value === undefined) continue
    conditions.push(condition)
    values.push(value)
  }

  const descending = query.order === 'descending'
  const ordered = isTaskListing(query) ? taskOrder : timeOrder
  if (query.after !== undefined) {
    const { after } = query
    const places = ordered.map(() => '?').join(', ')
    const columns = ordered.map((field) => columnOf[field]).join(', ')
    conditions.push(`(${columns}) ${descending ? '<' : '>'} (${places})`)
    for (const field of ordered) {
      const value = after[field]
      values.push(typeof value === 'string' ? bindText(value) : value)
    }
  }

  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = ordered.map((field) => columnOf[field] + (descending ? ' DESC' : '')).join(', ')
  values.push(Math.min(listLimit(query), Number.MAX_SAFE_INTEGER))
  return {
    sql: `SELECT ${selectedColumns} FROM _smithers_tool_calls${where} ORDER BY ${order} LIMIT ?`,
    values,
  }
}

// Attempt and seq are unique within a task, so the token that breaks ties elsewhere would only cost the index.
const taskOrder = ['attempt', 'seq'] as const
const timeOrder = ['startedAtMs', 'seq', 'callToken'] as const
