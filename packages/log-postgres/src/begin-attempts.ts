import type { TaskAttempt } from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import { storedText } from './stored-text.ts'

/** Notes the newest attempt of a task, unless a later one has begun. */
export type BeginAttempt = (attempt: TaskAttempt) => Promise<'ok' | 'superseded'>

export function beginAttemptsOn(connection: LogConnection): BeginAttempt {
  const { begunAttempts } = connection.tables
  // The next start that waits for the disk takes this along, and before one, nothing has happened.
  const text = `WITH ${connection.commitMode(false)}
    INSERT INTO ${begunAttempts} AS newest (run_id, node_id, iteration, attempt, begun_at_ms)
    SELECT $1, $2, $3::bigint, $4::bigint, $5::bigint FROM commit_mode
    ON CONFLICT (run_id, node_id, iteration) DO UPDATE
      SET attempt = excluded.attempt, begun_at_ms = excluded.begun_at_ms
      WHERE newest.attempt <= excluded.attempt`

  return ({ runId, nodeId, iteration, attempt }) =>
    connection.write('begin an attempt', async () => {
      const { rowCount } = await connection.query(text, [
        storedText(runId),
        storedText(nodeId),
        iteration,
        attempt,
        connection.clock.now(),
      ])
      return rowCount === 1 ? 'ok' : 'superseded'
    })
}
