import type { ApprovalPatch, ApprovalRow, ApprovalStore } from '@smithers/tool-core/log'
import { whenSettled } from './when-settled.ts'
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
  inputHash: 'input_hash',
  idempotencyKey: 'idempotency_key',
  inputJson: 'input_json',
  inputSchemaJson: 'input_schema_json',
  prompt: 'prompt',
  defaultsJson: 'defaults_json',
  previewJson: 'preview_json',
  status: 'status',
  requestedAtMs: 'requested_at_ms',
  expiresAtMs: 'expires_at_ms',
  decidedAtMs: 'decided_at_ms',
  decidedBy: 'decided_by',
  comment: 'comment',
  approvedArgsJson: 'approved_args_json',
} as const satisfies Record<keyof ApprovalRow, string>

/** Keeps approvals in the file of the log. */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function approvalsOn(connection: LogConnection): ApprovalStore {
  return {
    request(row) {
      let superseded = 0
      const call = [bindText(row.runId), bindText(row.callKey), bindText(row.inputHash)]
      const stored = connection.write('record a request for approval', () =>
        // Synced: a request that a person has read must be there when the decision comes.
        connection.synced(() =>
          connection.erasing(() =>
            connection.atomically(() => {
              superseded = Number(connection.prepare(supersedeSql).run(...call).changes)
              connection.prepare(insertSql).run(...valuesOf(row))
              return rowFrom(connection.prepare(openSql).get(...call))
            }),
          ),
        ),
      )
      return whenSettled(stored, (open) => {
        if (superseded > 0) void connection.scrub()
        return open
      })
    },

    update(id, expected, patch) {
      const { sql, values } = updateOf(patch)
      let erases = false
      const changed = connection.write('record a decision', () => {
        erases =
          ('approvedArgsJson' in patch || 'previewJson' in patch) &&
          connection.prepare(holdsErasableSql).get(bindText(id)) !== undefined
        try {
          const { changes } = connection.synced(() =>
            connection.erasing(() =>
              connection.prepare(sql).run(...values, bindText(id), expected),
            ),
          )
          return Number(changes) === 1
        } catch (error) {
          // Another request is open for the call and its arguments.
          if (sqliteCode(error) === 'CONSTRAINT') return false
          throw error
        }
      })
      return whenSettled(changed, (done) => {
        // An approver's arguments and a preview may be what the log must not hold, so they leave no copy behind. The
        // call does not wait for that: a process that reads for long would hold it up.
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

const holdsErasableSql = `SELECT 1 FROM _smithers_tool_approvals
  WHERE id = ? AND (approved_args_json IS NOT NULL OR preview_json IS NOT NULL)`

const columns = Object.values(columnOf)

const insertSql = `INSERT INTO _smithers_tool_approvals (${columns.join(', ')})
  VALUES (${columns.map(() => '?').join(', ')})
  ON CONFLICT (run_id, call_key, input_hash) WHERE status NOT IN ('used', 'superseded') DO NOTHING`

const supersedeSql = `UPDATE _smithers_tool_approvals
  SET status = 'superseded', approved_args_json = NULL, preview_json = NULL
  WHERE run_id = ? AND call_key = ? AND input_hash <> ? AND status IN ('pending', 'approved')`

const openSql = `SELECT * FROM _smithers_tool_approvals
  WHERE run_id = ? AND call_key = ? AND input_hash = ? AND status NOT IN ('used', 'superseded')`

function updateOf(patch: ApprovalPatch): { sql: string; values: SqlValue[] } {
  const changed = Object.entries(patch).filter(([, value]) => value !== undefined)
  const assignments = changed.map(([field]) => `${columnOf[field as keyof ApprovalRow]} = ?`)
  return {
    sql: `UPDATE _smithers_tool_approvals SET ${assignments.join(', ')} WHERE id = ? AND status = ?`,
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
