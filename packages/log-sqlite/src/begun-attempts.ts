import type { TaskAttempt } from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import { bindText } from './rows.ts'
import { supersededSql } from './schema.ts'
import type { SqlValue } from './sqlite-database.ts'

/** Notes the newest attempt of a task, unless a later one has begun. */
export function beginAttemptOn(
  connection: LogConnection,
  attempt: TaskAttempt,
): 'ok' | 'superseded' | Promise<'ok' | 'superseded'> {
  // No attempt comes before the first, so nothing needs to be written of it.
  if (attempt.attempt <= 1) {
    return connection.read('begin an attempt', () =>
      isSuperseded(connection, attempt) ? 'superseded' : 'ok',
    )
  }
  return connection.write('begin an attempt', () => {
    const values = [...supersededValues(attempt), Date.now()]
    return Number(connection.prepare(beginSql).run(...values).changes) === 1 ? 'ok' : 'superseded'
  })
}

/** Whether a later attempt of the task has begun. */
export function isSuperseded(connection: LogConnection, attempt: TaskAttempt): boolean {
  return connection.prepare(supersededSql).get(...supersededValues(attempt)) !== undefined
}

/** What {@link supersededSql} takes. */
export function supersededValues({ runId, nodeId, iteration, attempt }: TaskAttempt): SqlValue[] {
  return [bindText(runId), bindText(nodeId), iteration, attempt]
}

const beginSql = `INSERT INTO _smithers_begun_attempts (run_id, node_id, iteration, attempt, begun_at_ms)
  VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (run_id, node_id, iteration) DO UPDATE
    SET attempt = excluded.attempt, begun_at_ms = excluded.begun_at_ms WHERE attempt <= excluded.attempt`
