import type { FinishPatch, StartOptions, StartRow, ToolCallRow } from '@smithers/tool-core/log'
import { columnNames, type ColumnsOf, rowFrom } from './columns.ts'
import type { PostgresRow, PostgresValue } from './postgres-pool.ts'
import { storedOrNull, storedText } from './stored-text.ts'

/** The columns of a call. The first twelve are documented and never change. */
export const callColumns: ColumnsOf<Required<ToolCallRow>> = {
  runId: ['run_id', 'text'],
  nodeId: ['node_id', 'text'],
  iteration: ['iteration', 'integer'],
  attempt: ['attempt', 'integer'],
  seq: ['seq', 'integer'],
  toolName: ['tool_name', 'text'],
  inputJson: ['input_json', 'text'],
  outputJson: ['output_json', 'text'],
  startedAtMs: ['started_at_ms', 'integer'],
  finishedAtMs: ['finished_at_ms', 'integer'],
  status: ['status', 'text'],
  errorJson: ['error_json', 'text'],
  callToken: ['call_token', 'text'],
  toolCallId: ['tool_call_id', 'text'],
  idempotencyKey: ['idempotency_key', 'text'],
  inputHash: ['input_hash', 'text'],
  occurrence: ['occurrence', 'integer'],
  sideEffect: ['side_effect', 'boolean'],
  idempotent: ['idempotent', 'boolean'],
  effect: ['effect', 'text'],
  ownerId: ['owner_id', 'text'],
  leaseExpiresAtMs: ['lease_expires_at_ms', 'integer'],
  claim: ['claim', 'text'],
  replayOf: ['replay_of', 'text'],
  fromCache: ['from_cache', 'boolean'],
  outputExact: ['output_exact', 'boolean'],
  effectScope: ['effect_scope', 'text'],
  approvalId: ['approval_id', 'text'],
  networkJson: ['network_json', 'text'],
  traceId: ['trace_id', 'text'],
  spanId: ['span_id', 'text'],
}

export const selectedColumns: string = columnNames<Required<ToolCallRow>>(callColumns)

/** A row of the table as the log's callers see it. */
export function callFrom(stored: PostgresRow): ToolCallRow {
  const row: Record<string, unknown> = { ...rowFrom<Required<ToolCallRow>>(callColumns, stored) }
  for (const mark of ['fromCache', 'outputExact']) if (row[mark] === false) delete row[mark]
  for (const extension of ['effectScope', 'approvalId', 'networkJson']) {
    if (row[extension] === null) delete row[extension]
  }
  return row as unknown as ToolCallRow
}

/** What `start` stores, by column; the other columns have their defaults until the call finishes. */
export function startedColumns(
  row: StartRow,
  { claim, approvalId }: Pick<StartOptions, 'claim' | 'approvalId'>,
): Record<keyof typeof startedTypes, string | number | boolean | null> {
  return {
    run_id: storedText(row.runId),
    node_id: storedText(row.nodeId),
    iteration: row.iteration,
    attempt: row.attempt,
    seq: row.seq,
    tool_name: storedText(row.toolName),
    input_json: storedOrNull(row.inputJson),
    started_at_ms: row.startedAtMs,
    call_token: storedText(row.callToken),
    tool_call_id: storedOrNull(row.toolCallId),
    idempotency_key: storedOrNull(row.idempotencyKey),
    input_hash: storedOrNull(row.inputHash),
    occurrence: row.occurrence,
    side_effect: row.sideEffect,
    idempotent: row.idempotent,
    owner_id: storedOrNull(row.ownerId),
    lease_expires_at_ms: row.leaseExpiresAtMs,
    claim,
    replay_of: storedOrNull(row.replayOf),
    effect_scope: row.effectScope ?? null,
    approval_id: storedOrNull(approvalId),
    trace_id: storedOrNull(row.traceId),
    span_id: storedOrNull(row.spanId),
  }
}

/** The columns of {@link startedColumns} with their types, in order. */
export const startedTypes = {
  run_id: 'text',
  node_id: 'text',
  iteration: 'bigint',
  attempt: 'bigint',
  seq: 'bigint',
  tool_name: 'text',
  input_json: 'text',
  started_at_ms: 'bigint',
  call_token: 'text',
  tool_call_id: 'text',
  idempotency_key: 'text',
  input_hash: 'text',
  occurrence: 'bigint',
  side_effect: 'boolean',
  idempotent: 'boolean',
  owner_id: 'text',
  lease_expires_at_ms: 'bigint',
  claim: 'text',
  replay_of: 'text',
  effect_scope: 'text',
  approval_id: 'text',
  trace_id: 'text',
  span_id: 'text',
} as const

/**
 * The assignments of a finished row, for {@link finishedValues} from `$1` on. A call that certainly had no effect gives
 * its use of the key back.
 */
export const finishedAssignments: string = `status = $1, output_json = $2, error_json = $3, effect = $4,
  finished_at_ms = $5, replay_of = coalesce($6, replay_of), from_cache = $7, output_exact = $8, network_json = $9,
  key_use = CASE WHEN $4 = 'none' THEN NULL ELSE key_use END`

export function finishedValues(patch: FinishPatch): PostgresValue[] {
  return [
    patch.status,
    storedOrNull(patch.outputJson),
    storedOrNull(patch.errorJson),
    patch.effect,
    patch.finishedAtMs,
    storedOrNull(patch.replayOf),
    patch.fromCache === true,
    patch.outputExact === true,
    storedOrNull(patch.networkJson),
  ]
}
