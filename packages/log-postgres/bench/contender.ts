import { createPostgresLog, type PostgresLogSettings } from '@smithers/log-postgres'
import { createSqliteLog } from '@smithers/log-sqlite'
import type { ToolCallLog } from '@smithers/tool-core/log'
import pg from 'pg'
import { benchFinish, benchRow } from '../../log-sqlite/bench/bench-row.ts'

/** Whether the commit of a start waits for the disk. That of a finish never does here. */
export type Starts = 'fsync' | 'relaxed'

/** Something that stores the start of a call and then its end. */
export interface Contender {
  readonly name: string
  pair(lane: string, seq: number): Promise<void>
  close(): Promise<void>
}

/** One connection and the least that two commits cost: the documented columns, a key and its index, no checks. */
export async function rawContender(
  connectionString: string,
  starts: Starts,
  schema: string,
): Promise<Contender> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.calls (
    run_id text, node_id text, iteration bigint, attempt bigint, seq bigint, tool_name text, input_json text,
    output_json text, started_at_ms bigint, finished_at_ms bigint, status text, error_json text, idempotency_key text,
    PRIMARY KEY (run_id, node_id, iteration, attempt, seq));
    CREATE INDEX ON ${schema}.calls (idempotency_key)`)
  const mode = (value: string): string =>
    `WITH mode AS MATERIALIZED (SELECT set_config('synchronous_commit', '${value}', true))`
  const insert = `${mode(starts === 'fsync' ? 'on' : 'off')}
    INSERT INTO ${schema}.calls (run_id, node_id, iteration, attempt, seq, tool_name, input_json, started_at_ms, status,
      idempotency_key) SELECT $1, $2, $3, $4, $5, $6, $7, $8, 'started', $9 FROM mode`
  const update = `${mode('off')}
    UPDATE ${schema}.calls SET status = 'success', output_json = $1, finished_at_ms = $2 FROM mode
    WHERE run_id = $3 AND node_id = $4 AND iteration = $5 AND attempt = $6 AND seq = $7`
  return {
    name: 'raw pg, an insert and an update',
    async pair(lane, seq) {
      const { runId, toolName, inputJson, startedAtMs, idempotencyKey } = benchRow({ seq })
      const place = [runId, lane, 0, 1, seq]
      await client.query(insert, [...place, toolName, inputJson, startedAtMs, idempotencyKey])
      await client.query(update, [benchFinish.outputJson, benchFinish.finishedAtMs, ...place])
    },
    close: () => client.end(),
  }
}

/** A log, called as a journal calls it. */
function logContender(name: string, log: ToolCallLog, starts: Starts): Contender {
  return {
    name,
    async pair(nodeId, seq) {
      const row = benchRow({ nodeId, seq })
      const started = await log.start(row, { durability: starts, claim: 'inflight' })
      const finished = started.ok ? await log.finish(row.callToken, benchFinish) : 'fenced'
      if (finished !== 'ok') throw new Error(`${name} has not stored the pair`)
    },
    close: async () => await log.close(),
  }
}

/** The log of a schema with a number of connections. */
export async function postgresContender(
  connectionString: string,
  starts: Starts,
  settings: PostgresLogSettings & { readonly maxConnections: number },
): Promise<Contender> {
  const log = await createPostgresLog({ connectionString, ...settings })
  const { maxConnections } = settings
  const connections = maxConnections === 1 ? 'one connection' : `${maxConnections} connections`
  return logContender(`log-postgres, ${connections}`, log, starts)
}

/** The log of a file. */
export function sqliteContender(path: string, starts: Starts): Contender {
  return logContender('log-sqlite', createSqliteLog({ path }), starts)
}
