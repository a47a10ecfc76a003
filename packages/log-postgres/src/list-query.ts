import { equalFields, isTaskListing, listLimit } from '@smithers/tool-core/log'
import type { ToolCallQuery } from '@smithers/tool-core/log'
import { callColumns, selectedColumns } from './call-rows.ts'
import type { PostgresValue } from './postgres-pool.ts'
import { storedText } from './stored-text.ts'

/** A statement and its values. */
export interface Statement {
  readonly text: string
  readonly values: PostgresValue[]
}

/** A condition that the row must meet besides those of the query; `parameter` adds a value and returns its name. */
export type Condition = (parameter: (value: string | number) => string) => string

/**
 * The statement of one listing. Every order has an index, so a page costs the same at any depth.
 *
 * @param columns What to select. @default the columns of the query
 */
export function listQuery(
  toolCalls: string,
  query: ToolCallQuery,
  further: readonly Condition[] = [],
  columns: string = columnsOf(query),
): Statement {
  const conditions: string[] = []
  const values: PostgresValue[] = []
  const parameter = (value: string | number): string => {
    values.push(typeof value === 'string' ? storedText(value) : value)
    return `$${values.length}`
  }
  for (const condition of further) conditions.push(condition(parameter))
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
    const names = ordered.map((field) => callColumns[field][0]).join(', ')
    conditions.push(`(${names}) ${descending ? '<' : '>'} (${places})`)
  }

  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  const order = ordered
    .map((field) => callColumns[field][0] + (descending ? ' DESC' : ''))
    .join(', ')
  const limit = listLimit(query)
  const most = limit === Infinity ? '' : ` LIMIT ${parameter(limit)}`
  return {
    text: `SELECT ${columns} FROM ${toolCalls}${where} ORDER BY ${order}${most}`,
    values,
  }
}

/** Every column, the contents cut as the query asks. */
export function columnsOf({ contentsUpTo }: ToolCallQuery): string {
  if (contentsUpTo === undefined) return selectedColumns
  return Object.values(callColumns)
    .map(([name]) => (contents.has(name) ? `left(${name}, ${contentsUpTo}) AS ${name}` : name))
    .join(', ')
}

const contents = new Set(['input_json', 'output_json', 'error_json', 'network_json'])

// Attempt and seq are unique within a task, so the token that breaks ties elsewhere would only cost the index.
const taskOrder = ['attempt', 'seq'] as const
const timeOrder = ['startedAtMs', 'seq', 'callToken'] as const
