import type { FinishPatch, StartOptions, StartRow, ToolCallRow } from '@smithers/tool-core/log'
import { supersededSql } from './schema.ts'
import type { SqlValue } from './sqlite-database.ts'

/** The column of every field, in the order of the table. The first twelve are documented and never change. */
export const columnOf: Readonly<Record<keyof ToolCallRow, string>> = {
  runId: 'run_id',
  nodeId: 'node_id',
  iteration: 'iteration',
  attempt: 'attempt',
  seq: 'seq',
  toolName: 'tool_name',
  inputJson: 'input_json',
  outputJson: 'output_json',
  startedAtMs: 'started_at_ms',
  finishedAtMs: 'finished_at_ms',
  status: 'status',
  errorJson: 'error_json',
  callToken: 'call_token',
  toolCallId: 'tool_call_id',
  idempotencyKey: 'idempotency_key',
  inputHash: 'input_hash',
  occurrence: 'occurrence',
  sideEffect: 'side_effect',
  idempotent: 'idempotent',
  effect: 'effect',
  ownerId: 'owner_id',
  leaseExpiresAtMs: 'lease_expires_at_ms',
  claim: 'claim',
  replayOf: 'replay_of',
  fromCache: 'from_cache',
  outputExact: 'output_exact',
  effectScope: 'effect_scope',
  approvalId: 'approval_id',
  networkJson: 'network_json',
  traceId: 'trace_id',
  spanId: 'span_id',
}

export const selectedColumns: string = Object.values(columnOf).join(', ')

const insertedColumns = (() => {
  const { outputJson, finishedAtMs, errorJson, effect, fromCache, outputExact, ...others } =
    columnOf
  const { networkJson, ...inserted } = others
  void [outputJson, finishedAtMs, errorJson, effect, fromCache, outputExact, networkJson]
  return Object.values(inserted)
})()
const startMarks = insertedColumns.map(() => '?').join(', ')

/**
 * Inserts what `start` stores, unless a later attempt has begun; the other columns are null until the call finishes. Takes
 * {@link startValues}, then what {@link supersededSql} takes.
 */
export const insertSql: string = `INSERT INTO _smithers_tool_calls (${insertedColumns.join(', ')})
  SELECT ${startMarks} WHERE NOT EXISTS (${supersededSql})`

/** A call that used a key and is not among those that are known, as a JSON array. */
export const newsSql = `FROM _smithers_tool_calls WHERE idempotency_key = ? AND claim IS NOT NULL
  AND effect IS NOT 'none' AND call_token NOT IN (SELECT value FROM json_each(?))`

/**
 * Fails with {@link hasNews} when a later attempt has begun or the log has news of the key: one statement, so that none can
 * arrive in between. Takes what {@link supersededSql} takes, the key, what is known, and {@link startValues}. A failure, since `INSERT … SELECT … WHERE NOT EXISTS` of the table's own
 * rows has SQLite copy the row to a temporary table first, which costs every call what only the rare repetition needs.
 */
export const insertUnlessNewsSql: string = `INSERT INTO _smithers_tool_calls (${insertedColumns.join(', ')})
  VALUES (CASE WHEN EXISTS (${supersededSql}) OR EXISTS (SELECT 1 ${newsSql}) THEN abs(-9223372036854775808) ELSE ? END${startMarks.slice(1)})`

/** Whether an error is the one of {@link insertUnlessNewsSql}: there is no absolute value of the smallest integer. */
export function hasNews(error: unknown): boolean {
  return error instanceof Error && error.message === 'integer overflow'
}

export function startValues(row: StartRow, { claim, approvalId }: StartOptions): SqlValue[] {
  return [
    bindText(row.runId),
    bindText(row.nodeId),
    row.iteration,
    row.attempt,
    row.seq,
    bindText(row.toolName),
    bindText(row.inputJson),
    row.startedAtMs,
    'started',
    bindText(row.callToken),
    bindText(row.toolCallId),
    bindText(row.idempotencyKey),
    bindText(row.inputHash),
    row.occurrence,
    row.sideEffect ? 1 : 0,
    row.idempotent ? 1 : 0,
    bindText(row.ownerId),
    row.leaseExpiresAtMs,
    claim,
    bindText(row.replayOf),
    row.effectScope ?? null,
    bindText(approvalId ?? null),
    bindText(row.traceId),
    bindText(row.spanId),
  ]
}

/** Takes {@link finishValues}. A finished row is never finished again: that is the fence. */
export const finishSql = `UPDATE _smithers_tool_calls
  SET status = ?, output_json = ?, error_json = ?, effect = ?, finished_at_ms = ?, replay_of = coalesce(?, replay_of),
    from_cache = ?, output_exact = ?, network_json = ?
  WHERE call_token = ? AND finished_at_ms IS NULL`

export function finishValues(callToken: string, patch: FinishPatch): SqlValue[] {
  return [
    patch.status,
    bindText(patch.outputJson),
    bindText(patch.errorJson),
    patch.effect,
    patch.finishedAtMs,
    bindText(patch.replayOf ?? null),
    patch.fromCache === true ? 1 : 0,
    patch.outputExact === true ? 1 : 0,
    bindText(patch.networkJson ?? null),
    bindText(callToken),
  ]
}

/**
 * A string as it is bound. A lone surrogate has no UTF-8 form, and SQLite would store U+FFFD in its place, which
 * could make two identifiers one: such a string is stored as the bytes of its UTF-16 form.
 */
export function bindText(text: string | null): SqlValue {
  return text === null || text.isWellFormed() ? text : Buffer.from(text, 'utf16le')
}

/** A value as it was before it was bound. */
export function unbound(value: SqlValue | undefined): SqlValue | undefined {
  return typeof value === 'object' && value !== null
    ? Buffer.from(value).toString('utf16le')
    : value
}

const flags = ['sideEffect', 'idempotent'] as const
/** Absent unless set. */
const marks = ['fromCache', 'outputExact'] as const
/** Absent when null. */
const extensions = ['effectScope', 'approvalId', 'networkJson'] as const

const special: ReadonlySet<string> = new Set([...flags, ...marks, ...extensions])
const plainFields = Object.entries(columnOf).filter(([field]) => !special.has(field))

/** A row of the table as the log's callers see it. Fields are only added: `delete` would make each object a slow one. */
export function rowFromColumns(columns: unknown): ToolCallRow {
  const record = columns as Readonly<Record<string, SqlValue>>
  const row: Record<string, unknown> = {}
  for (const [field, column] of plainFields) row[field] = unbound(record[column])
  for (const flag of flags) row[flag] = record[columnOf[flag]] === 1
  for (const mark of marks) if (record[columnOf[mark]] === 1) row[mark] = true
  for (const extension of extensions) {
    const value = unbound(record[columnOf[extension]])
    if (value !== null) row[extension] = value
  }
  return row as unknown as ToolCallRow
}
