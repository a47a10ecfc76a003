import type { ApprovalPatch, ApprovalRow, ApprovalStore } from '@smithers/tool-core/log'
import { afterwards } from './afterwards.ts'
import type { LogConnection } from './log-connection.ts'
import { bindText, unbound } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'
import { sqliteCode } from './sqlite-failure.ts'

/** The column of every field, in the order of the table. */
const columnOf = {
  id: 'id',
  runId: 'run_id',
  nodeId: 'node_id',
  iteration: 'iteration',
  attempt: 'attempt',
  toolName: 'tool_name',
  toolCallId: 'tool_call_id',
  callKey: 'call_key',
  idempotencyKey: 'idempotency_key',
  inputJson: 'input_json',
  inputSchemaJson: 'input_schema_json',
  prompt: 'prompt',
  defaultsJson: 'defaults_json',
  status: 'status',
  requestedAtMs: 'requested_at_ms',
  expiresAtMs: 'expires_at_ms',
  decidedAtMs: 'decided_at_ms',
  decidedBy: 'decided_by',
  comment: 'comment',
  approvedArgsJson: 'approved_args_json',
  usedBy: 'used_by',
  usedByOwner: 'used_by_owner',
  usedAtMs: 'used_at_ms',
} as const satisfies Record<keyof ApprovalRow, string>

/** Keeps approvals in the file of the log. */
export function approvalsOn(connection: LogConnection): ApprovalStore {
  return {
    request: (row) =>
      connection.write('record a question for approval', () => {
        for (;;) {
          // Synced: a question that somebody has read must be there when the answer comes.
          connection.synced(() =>
            connection.erasing(() => connection.prepare(insertSql).run(...valuesOf(row))),
          )
          const standing = connection
            .prepare(standingSql)
            .get(bindText(row.runId), bindText(row.callKey))
          // The one that stood may have been used since, by another process: then there is room for this one.
          if (standing !== undefined) return rowFrom(standing)
        }
      }),

    update(id, expected, patch) {
      const { sql, values } = updateOf(patch)
      const conditions = [bindText(id), expected.status, bindText(expected.usedBy)]
      let erases = false
      const changed = connection.write('record a decision', () => {
        erases =
          'approvedArgsJson' in patch &&
          connection.prepare(holdsArgumentsSql).get(bindText(id)) !== undefined
        try {
          const { changes } = connection.synced(() =>
            connection.erasing(() => connection.prepare(sql).run(...values, ...conditions)),
          )
          return Number(changes) === 1
        } catch (error) {
          // Another question stands for the call that this one is to stand for again.
          if (sqliteCode(error) === 'CONSTRAINT') return false
          throw error
        }
      })
      return afterwards(changed, (done) => {
        // The arguments of an approver may be what the log must not hold: they leave no copy behind. Nobody waits for
        // that, since a process that reads for long would hold up a call that has run.
        if (done && erases) void connection.scrub()
        return done
      })
    },

    list({ limit = 1000, ...query }) {
      const asked = Object.entries(query).filter(([, value]) => value !== undefined)
      const where = asked.map(([field]) => `${columnOf[field as keyof ApprovalRow]} = ?`)
      const sql = `SELECT * FROM _smithers_tool_approvals${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`} ORDER BY rowid DESC LIMIT ?`
      const values = asked.map(([, value]) => bindText(value))
      const most = Math.min(limit, Number.MAX_SAFE_INTEGER)
      return connection.read('list approvals', () =>
        connection
          .prepare(sql)
          .all(...values, most)
          .map(rowFrom),
      )
    },
  }
}

const holdsArgumentsSql = `SELECT 1 FROM _smithers_tool_approvals WHERE id = ? AND approved_args_json IS NOT NULL`

const columns = Object.values(columnOf)

const insertSql = `INSERT INTO _smithers_tool_approvals (${columns.join(', ')})
  VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT (run_id, call_key) WHERE status <> 'executed' DO NOTHING`

const standingSql = `SELECT * FROM _smithers_tool_approvals WHERE run_id = ? AND call_key = ? AND status <> 'executed'`

function updateOf(patch: ApprovalPatch): { sql: string; values: SqlValue[] } {
  const changed = Object.entries(patch).filter(([, value]) => value !== undefined)
  const assignments = changed.map(([field]) => `${columnOf[field as keyof ApprovalRow]} = ?`)
  return {
    sql: `UPDATE _smithers_tool_approvals SET ${assignments.join(', ')} WHERE id = ? AND status = ? AND used_by IS ?`,
    values: changed.map(([, value]) => bind(value)),
  }
}

function valuesOf(row: ApprovalRow): SqlValue[] {
  return Object.keys(columnOf).map((field) => bind(row[field as keyof ApprovalRow]))
}

function bind(value: string | number | null): SqlValue {
  return typeof value === 'number' ? value : bindText(value)
}

function rowFrom(stored: unknown): ApprovalRow {
  const record = stored as Readonly<Record<string, SqlValue>>
  const entries = Object.entries(columnOf).map(([field, column]) => [
    field,
    unbound(record[column]),
  ])
  return Object.fromEntries(entries) as ApprovalRow
}
