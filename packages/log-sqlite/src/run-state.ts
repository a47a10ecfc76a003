import type { RunStateEntry, RunStateStore } from '@smithers/tool-core/log'
import type { LogConnection } from './log-connection.ts'
import { bindText, unbound } from './rows.ts'
import type { SqlValue } from './sqlite-database.ts'

/** Keeps the values of runs in the file of the log. */
export function runStateOn(connection: LogConnection): RunStateStore {
  return {
    get: (runId, key) =>
      connection.read('read the state of a run', () => {
        const stored = connection.prepare(getSql).get(bindText(runId), bindText(key))
        if (stored === undefined) return undefined
        const { version, value_json, updated_at_ms } = stored as Readonly<Record<string, SqlValue>>
        return {
          runId,
          key,
          version,
          valueJson: unbound(value_json),
          updatedAtMs: updated_at_ms,
        } as RunStateEntry
      }),

    set: ({ runId, key, version, valueJson, updatedAtMs }) =>
      connection.write('record the state of a run', () => {
        const primaryKey = [bindText(runId), bindText(key)]
        const { changes } =
          version === 1
            ? connection.prepare(insertSql).run(...primaryKey, bindText(valueJson), updatedAtMs)
            : connection
                .prepare(updateSql)
                .run(version, bindText(valueJson), updatedAtMs, ...primaryKey, version - 1)
        return Number(changes) === 1
      }),
  }
}

const getSql = `SELECT version, value_json, updated_at_ms FROM _smithers_run_state WHERE run_id = ? AND key = ?`

const insertSql = `INSERT INTO _smithers_run_state (run_id, key, version, value_json, updated_at_ms)
  VALUES (?, ?, 1, ?, ?) ON CONFLICT (run_id, key) DO NOTHING`

const updateSql = `UPDATE _smithers_run_state SET version = ?, value_json = ?, updated_at_ms = ?
  WHERE run_id = ? AND key = ? AND version = ?`
