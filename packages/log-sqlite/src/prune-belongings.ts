import { archiveKey } from '@smithers/tool-core/log'
import { usesApprovalSql } from './schema.ts'
import type { SqlValue } from './sqlite-database.ts'

/** A statement that removes at most {@link batchSize} rows. */
export interface Deletion {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

export const batchSize: number = 500

/**
 * Runs that may continue: those that have not finished, and those with an approval that is pending, or approved and
 * unused. Takes the current time.
 */
export const openRunsSql: string = `SELECT run_id FROM _smithers_runs WHERE status <> 'finished'
  UNION ALL SELECT run_id FROM _smithers_tool_approvals AS waiting
    WHERE (status = 'pending' AND (expires_at_ms IS NULL OR expires_at_ms > ?))
      OR (status = 'approved' AND NOT EXISTS (
        SELECT 1 FROM _smithers_tool_calls WHERE approval_id = waiting.id AND ${usesApprovalSql}))`

const isNamedSql = `hex(run_id) IN (SELECT value FROM json_each(?))`

/** Removes old approvals, and those of named runs. People decide about approvals, so one statement removes them. */
export function oldApprovals(keptFromMs: number, nowMs: number, named: string): Deletion {
  return {
    sql: `DELETE FROM _smithers_tool_approvals AS old WHERE ${isNamedSql}
      OR (max(requested_at_ms, coalesce(decided_at_ms, 0)) < ? AND run_id NOT IN (${openRunsSql}) AND (
        NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE run_id = old.run_id)
        OR (status = 'used' AND NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE approval_id = old.id))))`,
    values: [named, keptFromMs, nowMs],
  }
}

const archivePrefix = archiveKey('')

/** Removes old values and begun attempts of runs, and finished runs whose calls are gone. */
export function oldBelongings(keptFromMs: number, nowMs: number): Deletion[] {
  const state = `DELETE FROM _smithers_run_state WHERE rowid IN (
    SELECT rowid FROM _smithers_run_state AS old
    WHERE updated_at_ms < ? AND run_id NOT IN (${openRunsSql}) AND (
      NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE run_id = old.run_id)
      OR (substr(key, 1, ${archivePrefix.length}) = '${archivePrefix}'
        AND NOT EXISTS (SELECT 1 FROM _smithers_tool_calls
          WHERE call_token = substr(old.key, ${archivePrefix.length + 1}))))
    LIMIT ${batchSize})`
  const runs = `DELETE FROM _smithers_runs WHERE rowid IN (
    SELECT rowid FROM _smithers_runs AS old WHERE status = 'finished' AND coalesce(finished_at_ms, 0) < ?
      AND NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE run_id = old.run_id)
    LIMIT ${batchSize})`
  const begun = `DELETE FROM _smithers_begun_attempts WHERE rowid IN (
    SELECT rowid FROM _smithers_begun_attempts AS old WHERE begun_at_ms < ? AND run_id NOT IN (${openRunsSql})
      AND NOT EXISTS (SELECT 1 FROM _smithers_tool_calls WHERE run_id = old.run_id)
    LIMIT ${batchSize})`
  return [
    { sql: begun, values: [keptFromMs, nowMs] },
    { sql: state, values: [keptFromMs, nowMs] },
    { sql: runs, values: [keptFromMs] },
    ...progressTables.map((table) => ({ sql: withoutRunSql(table), values: [] })),
  ]
}

/** Removes the values and the records of runs. */
export function belongingsOfRuns(named: string): Deletion[] {
  const tables = ['_smithers_begun_attempts', '_smithers_run_state', '_smithers_runs']
  return [...tables, ...progressTables].map((table) => ({
    sql: `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${isNamedSql} LIMIT ${batchSize})`,
    values: [named],
  }))
}

/** Inputs, outputs and progress of runs. */
const progressTables = ['_smithers_tasks', '_smithers_attempts', '_smithers_loops']

function withoutRunSql(table: string): string {
  return `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} AS old
    WHERE NOT EXISTS (SELECT 1 FROM _smithers_runs WHERE run_id = old.run_id) LIMIT ${batchSize})`
}
