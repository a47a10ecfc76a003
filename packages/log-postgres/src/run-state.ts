import type { RunStateEntry, RunStateStore } from '@smithers/tool-core/log'
import { type ColumnsOf, rowFrom } from './columns.ts'
import type { LogConnection } from './log-connection.ts'
import { storedText } from './stored-text.ts'

/** Keeps the values of runs in the database of the log. */
export function runStateOn(connection: LogConnection): RunStateStore {
  const { runState } = connection.tables

  async function find(runId: string, key: string): Promise<RunStateEntry | undefined> {
    const { rows } = await connection.queryNamed(
      `SELECT * FROM ${runState} WHERE run_id = $1 AND key = $2`,
      [storedText(runId), storedText(key)],
    )
    return rows[0] && rowFrom(stateColumns, rows[0])
  }

  return {
    get: (runId, key) => connection.read('read the state of a run', () => find(runId, key)),

    set(entry) {
      const { runId, key, version, valueJson, updatedAtMs } = entry
      const text = version === 1 ? insertSql : updateSql
      return connection.write('record the state of a run', async (mayBeStored) => {
        const { rowCount } = await connection.queryNamed(
          text(runState, connection.commitMode(false)),
          [storedText(runId), storedText(key), version, storedText(valueJson), updatedAtMs],
        )
        if (rowCount === 1 || !mayBeStored) return rowCount === 1
        const stored = await find(runId, key)
        return (
          stored?.version === version &&
          stored.valueJson === valueJson &&
          stored.updatedAtMs === updatedAtMs
        )
      })
    },
  }
}

const stateColumns: ColumnsOf<RunStateEntry> = {
  runId: ['run_id', 'text'],
  key: ['key', 'text'],
  version: ['version', 'integer'],
  valueJson: ['value_json', 'text'],
  updatedAtMs: ['updated_at_ms', 'integer'],
}

function insertSql(runState: string, commitMode: string): string {
  return `WITH ${commitMode}
    INSERT INTO ${runState} (run_id, key, version, value_json, updated_at_ms)
    SELECT $1, $2, $3::bigint, $4, $5::bigint FROM commit_mode ON CONFLICT (run_id, key) DO NOTHING`
}

function updateSql(runState: string, commitMode: string): string {
  return `WITH ${commitMode}
    UPDATE ${runState} SET version = $3::bigint, value_json = $4, updated_at_ms = $5::bigint
    FROM commit_mode WHERE run_id = $1 AND key = $2 AND version = $3::bigint - 1`
}
