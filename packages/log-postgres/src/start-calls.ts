import { SmithersError } from '@smithers/tool-core/log'
import type { StartOptions, StartResult, StartRow } from '@smithers/tool-core/log'
import { callFrom, selectedColumns } from './call-rows.ts'
import { restoreRun } from './archive.ts'
import { insertTogetherOn, isNewsSql } from './insert-together.ts'
import type { LogConnection } from './log-connection.ts'
import { unavailable } from './postgres-failure.ts'
import { storedOrNull, storedText } from './stored-text.ts'
import { usesApprovalSql } from './schema.ts'
import type { Tables } from './tables.ts'

/** Stores the start of a call; several that begin in one turn are one statement and one commit. */
export type StartCall = (row: StartRow, options: StartOptions) => Promise<StartResult>

export function startCallsOn(connection: LogConnection): StartCall {
  const { tables } = connection
  const insert = insertTogetherOn(connection)
  const conflicts = conflictSql(tables)

  /** What keeps a row out of the table; undefined when it has gone meanwhile. */
  async function conflictOf(
    row: StartRow,
    options: StartOptions,
    mayBeStored: boolean,
  ): Promise<StartResult | undefined> {
    const { claim, known, approvalId = null } = options
    const { rows } = await connection.queryNamed(conflicts, [
      storedText(row.callToken),
      storedText(row.runId),
      storedText(row.nodeId),
      row.iteration,
      row.attempt,
      row.seq,
      storedOrNull(row.idempotencyKey),
      claim,
      known?.map(storedText) ?? null,
      storedOrNull(approvalId),
    ])
    const found = new Map(rows.map((columns) => [columns['conflict'], columns]))
    const own = found.get('token')
    if (own !== undefined) return ownConflict(row, callFrom(own), mayBeStored)
    if (found.has('attempt')) return { ok: false, reason: 'superseded' }
    if (found.has('position')) return { ok: false, reason: 'seq-taken' }
    const holder = found.get('claim')
    if (holder !== undefined) return { ok: false, reason: 'claimed', existing: callFrom(holder) }
    const user = found.get('approval')
    return user && { ok: false, reason: 'approval-used', existing: callFrom(user) }
  }

  return async (row, options) => {
    const deadline = performance.now() + longestContentionMs
    return await connection.write('record the start of a call', async (mayBeStored) => {
      for (;;) {
        if (await insert(row, options)) return { ok: true }
        const conflict = await conflictOf(row, options, mayBeStored)
        if (conflict !== undefined) return conflict
        await restoreRun(connection, storedText(row.runId))
        if (performance.now() > deadline) {
          throw unavailable(
            'busy',
            `Other calls took and released the key of this one for ${longestContentionMs} ms. Try again.`,
          )
        }
      }
    })
  }
}

/** A row with the call's own token: this call's, when the answer to an earlier try was lost. */
function ownConflict(
  row: StartRow,
  stored: ReturnType<typeof callFrom>,
  mayBeStored: boolean,
): StartResult {
  const isThis = (['runId', 'nodeId', 'iteration', 'attempt', 'seq'] as const).every(
    (field) => stored[field] === row[field],
  )
  if (!mayBeStored || !isThis) {
    throw new SmithersError(
      'INVALID_INPUT',
      `callToken ${JSON.stringify(row.callToken)} is already in the log. Give every call its own token.`,
      { effect: 'none' },
    )
  }
  if (stored.finishedAtMs === null) return { ok: true }
  throw unavailable(
    'taken-over',
    'The start of the call was stored, and another process ended its row before the answer came. Make the call again.',
  )
}

function conflictSql({ toolCalls, allCalls, begunAttempts }: Tables): string {
  const conflict = (name: string, where: string, calls = toolCalls): string =>
    `(SELECT '${name}' AS conflict, ${selectedColumns} FROM ${calls} AS other WHERE ${where} LIMIT 1)`
  return [
    conflict('token', 'call_token = $1'),
    `(SELECT 'attempt' AS conflict, ${selectedColumns}
      FROM (SELECT 1 FROM ${begunAttempts}
        WHERE run_id = $2 AND node_id = $3 AND iteration = $4 AND attempt > $5) AS newest
      LEFT JOIN ${toolCalls} AS other ON false)`,
    conflict(
      'position',
      'run_id = $2 AND node_id = $3 AND iteration = $4 AND attempt = $5 AND seq = $6',
    ),
    conflict(
      'claim',
      `idempotency_key = $7 AND claim IS NOT NULL AND $8::text IS NOT NULL AND (finished_at_ms IS NULL
        OR (claim = 'once' AND status = 'success' AND $8 = 'once') OR ${isNewsSql('$9::text[]')})`,
      allCalls,
    ),
    conflict('approval', `approval_id = $10 AND ${usesApprovalSql}`),
  ].join(' UNION ALL ')
}

const longestContentionMs = 5000
