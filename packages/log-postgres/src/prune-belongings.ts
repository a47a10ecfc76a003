import { archiveKey } from '@smithers/tool-core/log'
import type { PostgresValue } from './postgres-pool.ts'
import { usesApprovalSql } from './schema.ts'
import type { Tables } from './tables.ts'

/** A statement that removes at most {@link batchSize} rows. */
export interface Deletion {
  readonly text: string
  readonly values: PostgresValue[]
}

export const batchSize: number = 500

/** Runs with an approval that is pending, or approved and unused. */
export function waitingApprovalsSql({ toolApprovals, toolCalls }: Tables, now: string): string {
  return `SELECT run_id FROM ${toolApprovals} AS waiting
      WHERE (status = 'pending' AND (expires_at_ms IS NULL OR expires_at_ms > ${now}))
        OR (status = 'approved' AND NOT EXISTS (
          SELECT 1 FROM ${toolCalls} WHERE approval_id = waiting.id AND ${usesApprovalSql}))`
}

/**
 * Runs that may continue: those that have not finished, and those with an approval that is pending, or approved and
 * unused.
 *
 * @param now The place of the current time among the parameters.
 */
export function openRunsSql(tables: Tables, now: string): string {
  return `SELECT run_id FROM ${tables.runs} WHERE status <> 'finished'
    UNION ALL ${waitingApprovalsSql(tables, now)}`
}

const archivePrefix = archiveKey('')

/** Removes old approvals, old values and begun attempts of runs, and finished runs whose calls are gone. */
export function oldBelongings(tables: Tables, keptFromMs: number, nowMs: number): Deletion[] {
  const { toolApprovals, toolCalls, archive, begunAttempts, runState, runs } = tables
  const hasNoCall = `NOT EXISTS (SELECT 1 FROM ${tables.allCalls} WHERE run_id = old.run_id)`
  // The archive is asked by the run, for which it has an index.
  const isNotArchived = (which: string): string =>
    `NOT EXISTS (SELECT 1 FROM ${archive} WHERE run_id = old.run_id AND ${which})`
  const isClosed = `run_id NOT IN (${openRunsSql(tables, '$2')})`
  const token = `substr(old.key, ${archivePrefix.length + 1})`
  const before = [keptFromMs, nowMs]
  return [
    deletion(
      toolApprovals,
      `greatest(requested_at_ms, coalesce(decided_at_ms, 0)) < $1 AND ${isClosed} AND (${hasNoCall}
        OR (status = 'used' AND NOT EXISTS (SELECT 1 FROM ${toolCalls} WHERE approval_id = old.id)
          AND ${isNotArchived('approval_id = old.id')}))`,
      before,
    ),
    deletion(
      runState,
      `updated_at_ms < $1 AND ${isClosed} AND (${hasNoCall}
        OR (starts_with(key, '${archivePrefix}') AND NOT EXISTS (SELECT 1 FROM ${toolCalls}
          WHERE call_token = ${token}) AND ${isNotArchived(`call_token = ${token}`)}))`,
      before,
    ),
    deletion(begunAttempts, `begun_at_ms < $1 AND ${isClosed} AND ${hasNoCall}`, before),
    deletion(runs, `status = 'finished' AND coalesce(finished_at_ms, 0) < $1 AND ${hasNoCall}`, [
      keptFromMs,
    ]),
    ...progressOf(tables).map((table) =>
      deletion(table, `NOT EXISTS (SELECT 1 FROM ${runs} WHERE run_id = old.run_id)`, []),
    ),
  ]
}

/** Removes the approvals, values and records of runs. */
export function belongingsOfRuns(tables: Tables, runIds: readonly string[]): Deletion[] {
  const { toolApprovals, begunAttempts, runState, runs } = tables
  return [toolApprovals, begunAttempts, runState, runs, ...progressOf(tables)].map((table) =>
    deletion(table, 'run_id = ANY ($1::text[])', [[...runIds]]),
  )
}

/** Inputs, outputs and progress of runs. */
function progressOf({ tasks, attempts, loops }: Tables): string[] {
  return [tasks, attempts, loops]
}

// Rows that another prune removes at this moment are left to it.
function deletion(table: string, where: string, values: PostgresValue[]): Deletion {
  return {
    text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} AS old WHERE ${where} LIMIT ${batchSize} FOR UPDATE SKIP LOCKED))`,
    values,
  }
}
