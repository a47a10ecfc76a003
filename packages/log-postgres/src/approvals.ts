import { SmithersError } from '@smithers/tool-core/log'
import type { ApprovalPatch, ApprovalRow, ApprovalStore } from '@smithers/tool-core/log'
import { type Column, columnNames, type ColumnsOf, rowFrom } from './columns.ts'
import type { LogConnection } from './log-connection.ts'
import { sqlState, unavailable } from './postgres-failure.ts'
import type { PostgresValue } from './postgres-pool.ts'
import { storedText } from './stored-text.ts'

const approvalColumns: ColumnsOf<ApprovalRow> = {
  id: ['id', 'text'],
  runId: ['run_id', 'text'],
  nodeId: ['node_id', 'text'],
  iteration: ['iteration', 'integer'],
  attempt: ['attempt', 'integer'],
  toolName: ['tool_name', 'text'],
  toolCallId: ['tool_call_id', 'text'],
  callKey: ['call_key', 'text'],
  inputHash: ['input_hash', 'text'],
  idempotencyKey: ['idempotency_key', 'text'],
  inputJson: ['input_json', 'text'],
  inputSchemaJson: ['input_schema_json', 'text'],
  prompt: ['prompt', 'text'],
  defaultsJson: ['defaults_json', 'text'],
  previewJson: ['preview_json', 'text'],
  status: ['status', 'text'],
  requestedAtMs: ['requested_at_ms', 'integer'],
  expiresAtMs: ['expires_at_ms', 'integer'],
  decidedAtMs: ['decided_at_ms', 'integer'],
  decidedBy: ['decided_by', 'text'],
  comment: ['comment', 'text'],
  approvedArgsJson: ['approved_args_json', 'text'],
}

const selected = columnNames<ApprovalRow>(approvalColumns)

/** Keeps approvals in the database of the log. */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function approvalsOn(connection: LogConnection): ApprovalStore {
  const { toolApprovals, schema } = connection.tables
  // Synced: a request that a person has read must be there when the decision comes.
  const synced = connection.commitMode(true)

  async function byId(id: string): Promise<ApprovalRow | undefined> {
    const text = `SELECT ${selected} FROM ${toolApprovals} WHERE id = $1`
    const { rows } = await connection.query(text, [storedText(id)])
    return rows[0] && rowFrom(approvalColumns, rows[0])
  }

  return {
    request: (row) =>
      connection.write('record a request for approval', async () => {
        const fields = Object.keys(approvalColumns) as (keyof ApprovalRow)[]
        const values = fields.map((field) => storedValue(row[field]))
        for (let tries = 0; tries < mostRaces; tries += 1) {
          const { rows } = await connection.query(requestSql(toolApprovals, synced), values)
          if (rows[0] !== undefined) return rowFrom(approvalColumns, rows[0])
          if (tries > 0 && (await byId(row.id)) !== undefined) throw idTaken(row)
          // Another process has made a request for the call since the statement began.
        }
        throw unavailable('busy', 'Other requests for the same call came too fast. Try again.')
      }),

    update: (id, expected, patch) =>
      connection.write('record a decision', async (mayBeStored) => {
        try {
          const { text, values } = updateOf(toolApprovals, synced, patch, schema)
          const { rowCount } = await connection.query(text, [storedText(id), expected, ...values])
          if (rowCount === 1 || !mayBeStored) return rowCount === 1
          return holds(await byId(id), patch)
        } catch (error) {
          // Another request is open for the call.
          if (sqlState(error) === '23505') return false
          throw error
        }
      }),

    list: ({ limit = 1000, ...query }) =>
      connection.read('list approvals', async () => {
        const asked = Object.entries(query).filter(([, value]) => value !== undefined)
        const where = asked.map(([field], index) => `${columnOf(field)} = $${index + 1}`)
        const values: PostgresValue[] = asked.map(([, value]) => storedText(value))
        values.push(Math.min(limit, Number.MAX_SAFE_INTEGER))
        const { rows } = await connection.query(
          `SELECT ${selected} FROM ${toolApprovals}${where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`} ` +
            `ORDER BY ordinal DESC LIMIT $${values.length}`,
          values,
        )
        return rows.map((row) => rowFrom(approvalColumns, row))
      }),
  }
}

/**
 * Supersedes, inserts and answers. The insertion comes after the superseding, whose rows it counts: until then they keep
 * the new one out.
 */
function requestSql(toolApprovals: string, commitMode: string): string {
  const places = Object.values<Column>(approvalColumns).map(([name, kind], index) => ({
    name,
    place: `$${index + 1}${kind === 'integer' ? '::bigint' : '::text'}`,
  }))
  const place = (column: string): string =>
    places.find(({ name }) => name === column)?.place ?? 'NULL'
  const call = `run_id = ${place('run_id')} AND call_key = ${place('call_key')}`
  return `WITH ${commitMode},
    superseded AS (
      UPDATE ${toolApprovals} SET status = 'superseded', approved_args_json = NULL, preview_json = NULL
      WHERE ${call} AND input_hash <> ${place('input_hash')} AND status IN ('pending', 'approved') RETURNING 1),
    stored AS (
      INSERT INTO ${toolApprovals} (${selected})
      SELECT ${places.map((column) => column.place).join(', ')}
      FROM commit_mode, (SELECT count(*) FROM superseded) AS first ON CONFLICT DO NOTHING RETURNING ${selected})
    SELECT * FROM stored UNION ALL
    SELECT ${selected} FROM ${toolApprovals}
      WHERE ${call} AND input_hash = ${place('input_hash')} AND status NOT IN ('used', 'superseded')`
}

function updateOf(
  toolApprovals: string,
  commitMode: string,
  patch: ApprovalPatch,
  schema: string,
): { readonly text: string; readonly values: PostgresValue[] } {
  const changed = changesOf(patch)
  const assignments = changed.map(([field], index) => `${columnOf(field)} = $${index + 3}`)
  const update = `UPDATE ${toolApprovals} SET ${assignments.join(', ')} FROM commit_mode WHERE id = $1 AND status = $2`
  const values = changed.map(([, value]) => storedValue(value))
  if (patch.decidedAtMs == null) return { text: `WITH ${commitMode} ${update}`, values }
  // Wakes the workers. Only a decision does: transactions that notify are committed one after another.
  return {
    text: `WITH ${commitMode}, decided AS (${update} RETURNING id)
      SELECT pg_notify('_smithers_decisions', $${values.length + 3}) FROM decided`,
    values: [...values, schema],
  }
}

function changesOf(patch: ApprovalPatch): [field: string, value: string | number | null][] {
  return Object.entries(patch).filter(([, value]) => value !== undefined)
}

/** The patch is what the row says: an earlier try has stored it. */
function holds(row: ApprovalRow | undefined, patch: ApprovalPatch): boolean {
  return (
    row !== undefined &&
    changesOf(patch).every(([field, value]) => row[field as keyof ApprovalRow] === value)
  )
}

function columnOf(field: string): string {
  return approvalColumns[field as keyof ApprovalRow][0]
}

function storedValue(value: string | number | null): PostgresValue {
  return typeof value === 'string' ? storedText(value) : value
}

function idTaken({ id }: ApprovalRow): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    `The approval ${JSON.stringify(id)} is already in the log. Give every request its own id.`,
  )
}

const mostRaces = 20
