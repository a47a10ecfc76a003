/** Creates the tables of workflow runs: the runs, their tasks, the attempts of each task, and the progress of loops. */
export const createRunTables = `
  CREATE TABLE IF NOT EXISTS _smithers_runs (
    run_id TEXT PRIMARY KEY,
    workflow TEXT,
    status TEXT NOT NULL,
    input_json TEXT,
    options_json TEXT NOT NULL,
    error_json TEXT,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    finished_tasks INTEGER NOT NULL DEFAULT 0,
    owner_id TEXT,
    lease_token TEXT,
    lease_expires_at_ms INTEGER
  );
  CREATE INDEX IF NOT EXISTS _smithers_runs_open ON _smithers_runs (run_id) WHERE status <> 'finished';
  CREATE INDEX IF NOT EXISTS _smithers_runs_started ON _smithers_runs (started_at_ms, run_id);
  CREATE TABLE IF NOT EXISTS _smithers_tasks (
    run_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    output_name TEXT,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    output_json TEXT,
    error_json TEXT,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    finish_order INTEGER,
    PRIMARY KEY (run_id, node_id, iteration)
  );
  CREATE TABLE IF NOT EXISTS _smithers_attempts (
    run_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    error_json TEXT,
    PRIMARY KEY (run_id, node_id, iteration, attempt)
  );
  CREATE TABLE IF NOT EXISTS _smithers_loops (
    run_id TEXT NOT NULL,
    loop_id TEXT NOT NULL,
    iteration INTEGER NOT NULL,
    finished INTEGER NOT NULL,
    PRIMARY KEY (run_id, loop_id)
  );
`
