import { equalFields, isTaskListing, listLimit } from '@smithers/tool-core/log'
import type { ToolCallQuery } from '@smithers/tool-core/log'
import { bindText, columnOf, selectedColumns } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'

/** A statement and its values. */
export interface Statement {
  readonly sql: string
  readonly values: SqlValue[]
}

/** A condition that the row must meet besides those of the query. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/**
 * The statement for one listing. Every order has an index, so a page costs the same at any depth.
 *
 * @param columns What to select. @default the columns of the query
 */
export function listQuery(
  query: ToolCallQuery,
  further: readonly Condition[] = [],
  columns: string = columnsOf(query),
): Statement {
  const conditions = further.map(({ sql }) => sql)
  const values = further.flatMap((condition) => [...condition.values])
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
    const names = ordered.map((field) => columnOf[field]).join(', ')
    conditions.push(`(${names}) ${descending ? '<' : '>'} (${places})`)
    for (const field of ordered) {
      const value = after[field]
      values.push(typeof value === 'string' ? bindText(value) : value)
    }
  }

  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = ordered.map((field) => columnOf[field] + (descending ? ' DESC' : '')).join(', ')
  values.push(Math.min(listLimit(query), Number.MAX_SAFE_INTEGER))
  return {
    sql: `SELECT ${columns} FROM _smithers_tool_calls${where} ORDER BY ${order} LIMIT ?`,
    values,
  }
}

/** Every column, the contents cut as the query asks. */
function columnsOf({ contentsUpTo }: ToolCallQuery): string {
  if (contentsUpTo === undefined) return selectedColumns
  return Object.values(columnOf)
    .map((name) => (contents.has(name) ? `substr(${name}, 1, ${contentsUpTo}) AS ${name}` : name))
    .join(', ')
}

const contents = new Set(['input_json', 'output_json', 'error_json', 'network_json'])

// Attempt and seq are unique within a task, so the token that breaks ties elsewhere would only cost the index.
const taskOrder = ['attempt', 'seq'] as const
const timeOrder = ['startedAtMs', 'seq', 'callToken'] as const
