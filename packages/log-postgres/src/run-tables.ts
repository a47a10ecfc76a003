import type { Tables } from './tables.ts'

/** Creates the tables of workflow runs: the runs, their tasks, the attempts of each task, and the progress of loops. */
export function createRunTables(tables: Tables, identifier: string): string[] {
  const { runs, tasks, attempts, loops } = tables
  // The order in which rows were made: milliseconds do not tell it.
  const ordinal = 'ordinal bigint GENERATED ALWAYS AS IDENTITY'
  const task = `run_id ${identifier} NOT NULL, node_id ${identifier} NOT NULL, iteration bigint NOT NULL`
  return [
    `CREATE TABLE IF NOT EXISTS ${runs} (
      run_id ${identifier} PRIMARY KEY, workflow text, status text NOT NULL, input_json text,
      options_json text NOT NULL, error_json text, started_at_ms bigint NOT NULL, finished_at_ms bigint,
      finished_tasks bigint NOT NULL DEFAULT 0, owner_id text, lease_token ${identifier}, lease_expires_at_ms bigint,
      created_by_token ${identifier} NOT NULL, ${ordinal})`,
    `CREATE INDEX IF NOT EXISTS _smithers_runs_open ON ${runs} (run_id) WHERE status <> 'finished'`,
    `CREATE INDEX IF NOT EXISTS _smithers_runs_newest ON ${runs} (ordinal)`,
    `CREATE INDEX IF NOT EXISTS _smithers_runs_started ON ${runs} (started_at_ms, run_id)`,
    `CREATE TABLE IF NOT EXISTS ${tasks} (
      ${task}, task_id text NOT NULL, output_name text, status text NOT NULL, attempt bigint NOT NULL,
      output_json text, error_json text, started_at_ms bigint NOT NULL, finished_at_ms bigint, finish_order bigint,
      ${ordinal}, PRIMARY KEY (run_id, node_id, iteration))`,
    `CREATE TABLE IF NOT EXISTS ${attempts} (
      ${task}, attempt bigint NOT NULL, status text NOT NULL, started_at_ms bigint NOT NULL, finished_at_ms bigint,
      error_json text, ${ordinal}, PRIMARY KEY (run_id, node_id, iteration, attempt))`,
    `CREATE TABLE IF NOT EXISTS ${loops} (
      run_id ${identifier} NOT NULL, loop_id ${identifier} NOT NULL, iteration bigint NOT NULL,
      finished boolean NOT NULL, PRIMARY KEY (run_id, loop_id))`,
  ]
}
