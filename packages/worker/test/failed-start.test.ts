import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { migrateQueue } from '@smithers/worker'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { describeWithServer } from './fixtures/cluster.ts'

const program = join(import.meta.dirname, 'fixtures/programs/start-once.ts')

/** A database of this test, since what it does to the tables of graphile-worker would end other workers. */
async function openDatabase(): Promise<{ connectionString: string; pool: pg.Pool }> {
  const server = new URL(process.env['SMITHERS_TEST_POSTGRES'] ?? '')
  const database = `start_${process.pid}_${Math.random().toString(36).slice(2, 8)}`
  const admin = new pg.Client({ connectionString: server.href })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${database}`)
  await admin.end()
  server.pathname = `/${database}`
  const pool = new pg.Pool({ connectionString: server.href, max: 4 })
  onTestFinished(() => pool.end())
  await migrateQueue({ pool })
  return { connectionString: server.href, pool }
}

async function connectionsOfWorkers(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'smithers worker'`,
  )
  return rows[0]?.count ?? 0
}

function startOnce(connectionString: string) {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      program,
      JSON.stringify({ connectionString }),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const said = once(createInterface({ input: child.stdout }), 'line')
  return { child, ended, said }
}

describeWithServer('a worker whose start fails', () => {
  test('leaves no timer and no connection behind, so its process ends', async () => {
    const { connectionString, pool } = await openDatabase()
    // The control: a worker that starts has connections, and ends when it is drained.
    const healthy = startOnce(connectionString)
    expect(await healthy.said).toEqual(['ready'])
    expect(await connectionsOfWorkers(pool)).toBeGreaterThan(0)
    healthy.child.kill('SIGTERM')
    await healthy.ended
    // The server notices a moment later that a process has gone.
    await expect.poll(() => connectionsOfWorkers(pool)).toBe(0)
    // A newer graphile-worker comes between the announcement of the worker and its start.
    await pool.query(`
      CREATE FUNCTION newer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO graphile_worker.migrations (id, breaking) VALUES (1000000, true) ON CONFLICT DO NOTHING;
        RETURN NEW; END $$;
      CREATE TRIGGER newer AFTER INSERT ON _smithers_workers FOR EACH ROW EXECUTE FUNCTION newer()`)
    const failing = startOnce(connectionString)
    expect(await failing.said).toEqual(['TOOL_LOG_UNAVAILABLE'])
    await failing.ended
    await expect.poll(() => connectionsOfWorkers(pool)).toBe(0)
    expect((await pool.query('SELECT FROM _smithers_workers')).rowCount).toBe(0)
  })
})
