import { originalText } from './stored-text.ts'
import type { PostgresRow } from './postgres-pool.ts'

/** How a column is read: the driver returns `bigint` as text, and a text may be stored as JSON. */
export type ColumnKind = 'text' | 'integer' | 'boolean'

/** The column of a field and its kind. */
export type Column = readonly [name: string, kind: ColumnKind]

/** The columns of every field of a row, in the order of the table. */
export type ColumnsOf<Row> = Readonly<Record<keyof Row & string, Column>>

/** The names of all columns, for a statement. */
export function columnNames<Row>(columns: ColumnsOf<Row>): string {
  return Object.values<Column>(columns)
    .map(([name]) => name)
    .join(', ')
}

/** A row of a table with the names and values of its fields. */
export function rowFrom<Row>(columns: ColumnsOf<Row>, stored: PostgresRow): Row {
  const fields = Object.entries<Column>(columns).map(([field, [name, kind]]) => [
    field,
    fieldFrom(stored[name], kind),
  ])
  return Object.fromEntries(fields) as Row
}

function fieldFrom(value: unknown, kind: ColumnKind): unknown {
  if (value === null || value === undefined) return null
  if (kind === 'integer') return Number(value)
  return kind === 'text' ? originalText(value as string) : value === true
}
