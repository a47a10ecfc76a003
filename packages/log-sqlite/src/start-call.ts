import { SmithersError } from '@smithers/tool-core/log'
import type { StartOptions, StartResult, StartRow, ToolCallRow } from '@smithers/tool-core/log'
import { isSuperseded, supersededValues } from './begun-attempts.ts'
import type { LogConnection } from './log-connection.ts'
import {
  bindText,
  hasNews,
  insertSql,
  insertUnlessNewsSql,
  newsSql,
  rowFromColumns,
  selectedColumns,
  startValues,
} from './rows.ts'
import { usesApprovalSql } from './schema.ts'
import { violatedUniqueness } from './sqlite-failure.ts'

/** One statement, so the row and its claim are stored together or not at all, and never after a later attempt has begun. */
export function insertRow(
  connection: LogConnection,
  row: StartRow,
  options: StartOptions,
): StartResult {
  for (;;) {
    try {
      if (insertsOnce(connection, row, options)) return { ok: true }
      if (isSuperseded(connection, row)) return { ok: false, reason: 'superseded' }
      const existing = newsOf(connection, row, options)
      if (existing !== undefined) return { ok: false, reason: 'claimed', existing }
    } catch (error) {
      const conflict = conflictOf(connection, error, row, options)
      if (conflict !== undefined) return conflict
    }
  }
}

/** False when a later attempt has begun, or the key has been used by a call that the caller does not know. */
function insertsOnce(connection: LogConnection, row: StartRow, options: StartOptions): boolean {
  const values = startValues(row, options)
  if (options.known === undefined || options.claim === null || row.idempotencyKey === null) {
    const inserted = connection.prepare(insertSql).run(...values, ...supersededValues(row))
    return Number(inserted.changes) === 1
  }
  const statement = connection.prepare(insertUnlessNewsSql)
  try {
    const news = [bindText(row.idempotencyKey), JSON.stringify(options.known)]
    statement.run(...supersededValues(row), ...news, ...values)
    return true
  } catch (error) {
    if (hasNews(error)) return false
    throw error
  }
}

function newsOf(
  connection: LogConnection,
  { idempotencyKey }: StartRow,
  { known = [] }: StartOptions,
): ToolCallRow | undefined {
  const columns = connection
    .prepare(`SELECT ${selectedColumns} ${newsSql} ORDER BY rowid DESC LIMIT 1`)
    .get(bindText(idempotencyKey), JSON.stringify(known))
  return columns === undefined ? undefined : rowFromColumns(columns)
}

/** What keeps a row out of the table; undefined when it has gone meanwhile, so that the next insert may succeed. */
function conflictOf(
  connection: LogConnection,
  error: unknown,
  row: StartRow,
  { claim, approvalId = null }: StartOptions,
): StartResult | undefined {
  const violated = violatedUniqueness(error)
  if (violated === 'position') return { ok: false, reason: 'seq-taken' }
  if (violated === 'call-token') throw tokenTaken(row)
  if (violated === 'approval') {
    const existing = userOf(connection, approvalId)
    // It may have failed without an effect since: then the approval is free again.
    return existing && { ok: false, reason: 'approval-used', existing }
  }
  if (violated !== 'claim') throw error
  const existing = holderOf(connection, row.idempotencyKey, claim)
  // SQLite names one of the conflicts; a call that is in the log conflicts with itself in all of them.
  if (existing?.callToken === row.callToken) throw tokenTaken(row)
  return existing && { ok: false, reason: 'claimed', existing }
}

function tokenTaken({ callToken }: StartRow): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    `callToken ${JSON.stringify(callToken)} is already in the log. Give every call its own token.`,
    { effect: 'none' },
  )
}

function holderOf(
  connection: LogConnection,
  key: string | null,
  claim: StartOptions['claim'],
): ToolCallRow | undefined {
  const columns = connection.prepare(holderSql).get(bindText(key), claim)
  return columns === undefined ? undefined : rowFromColumns(columns)
}

function userOf(connection: LogConnection, approvalId: string | null): ToolCallRow | undefined {
  const columns = connection.prepare(userSql).get(bindText(approvalId))
  return columns === undefined ? undefined : rowFromColumns(columns)
}

const userSql = `SELECT ${selectedColumns} FROM _smithers_tool_calls
  WHERE approval_id = ? AND ${usesApprovalSql} LIMIT 1`

const holderSql = `SELECT ${selectedColumns} FROM _smithers_tool_calls
  WHERE idempotency_key = ? AND claim IS NOT NULL
    AND (finished_at_ms IS NULL OR (claim = 'once' AND status = 'success' AND ? = 'once'))
  LIMIT 1`
