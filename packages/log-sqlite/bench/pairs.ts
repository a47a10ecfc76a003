import { createSqliteLog } from '@smithers/log-sqlite'
import Database from 'better-sqlite3'
import { benchFinish, benchRow } from './bench-row.ts'

/** The least that two commits cost: the documented columns, the token and one index, no checks. */
export function rawPair(path: string): (index: number) => void {
  const database = new Database(path)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.exec(`
    CREATE TABLE calls (run_id TEXT, node_id TEXT, iteration INTEGER, attempt INTEGER, seq INTEGER, tool_name TEXT,
      input_json TEXT, output_json TEXT, started_at_ms INTEGER, finished_at_ms INTEGER, status TEXT, error_json TEXT,
      idempotency_key TEXT, PRIMARY KEY (run_id, node_id, iteration, attempt, seq));
    CREATE INDEX calls_key ON calls (idempotency_key)`)
  const insert = database.prepare(
    `INSERT INTO calls (run_id, node_id, iteration, attempt, seq, tool_name, input_json, started_at_ms, status,
       idempotency_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'started', ?)`,
  )
  const update = database.prepare(
    `UPDATE calls SET status = 'success', output_json = ?, finished_at_ms = ?
     WHERE run_id = ? AND node_id = ? AND iteration = ? AND attempt = ? AND seq = ?`,
  )
  return (seq) => {
    const row = benchRow({ seq })
    const { runId, nodeId, toolName, inputJson, startedAtMs, idempotencyKey } = row
    insert.run(runId, nodeId, 0, 1, seq, toolName, inputJson, startedAtMs, idempotencyKey)
    update.run(benchFinish.outputJson, benchFinish.finishedAtMs, runId, nodeId, 0, 1, seq)
  }
}

/** The start and the end of a call in a log of its own. */
export function logPair(
  path: string,
  durability: 'fsync' | 'relaxed',
  setting: 'auto' | 'full' = 'auto',
): (index: number) => void {
  const log = createSqliteLog({ path, durability: setting })
  return (seq) => {
    const row = benchRow({ seq })
    void log.start(row, { durability, claim: 'inflight' })
    if (log.finish(row.callToken, benchFinish) !== 'ok') throw new Error('the pair is not stored')
  }
}
