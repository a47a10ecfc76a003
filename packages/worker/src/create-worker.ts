import { SmithersError } from '@smithers/tool-core'
import { Logger, run, type TaskList } from 'graphile-worker'
import { type JobPayload, taskNameOf } from './job.ts'
import { migrateQueue } from './migrate-queue.ts'
import { queueStatements } from './queue-statements.ts'
import { queueTablesOf } from './queue-tables.ts'
import { runJob } from './run-job.ts'
import { startSweeps } from './sweeps.ts'
import { announceWorker } from './worker-presence.ts'
import { resolveWorker, type WorkerOptions } from './worker-options.ts'

/** A worker of this process. */
export interface Worker {
  readonly name: string
  /** Resolves when it has drained; rejects when it could not go on. */
  readonly done: Promise<void>
  /** Drains: takes no more runs, and those it has are stopped and go back to the queue. Resolves as `done` does. */
  stop(): Promise<void>
}

/**
 * Takes the runs of a queue, as many at once as `concurrency` says, until it is stopped. Any number of workers in any
 * number of processes and on any number of machines share a queue; a run is worked on by one of them.
 *
 * @throws SmithersError `INVALID_INPUT` for options; `TOOL_LOG_UNAVAILABLE` when the database cannot be used.
 */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const worker = resolveWorker(options)
  const { pool, schema, queue, concurrency, workflows, signal, onProblem } = worker
  await migrateQueue({ pool, schema })
  const tables = queueTablesOf(schema)
  const sql = queueStatements(tables)
  const draining = new AbortController()
  const jobs = { worker, sql, draining: draining.signal, changed: new Set<string>() }
  const taskList: TaskList = Object.fromEntries(
    Object.keys(workflows).map((definition) => [
      taskNameOf(schema, queue, definition),
      (payload: unknown) => runJob(jobs, definition, payload as JobPayload),
    ]),
  )
  const presence = await announceWorker(worker, tables)
  const sweeps = startSweeps(worker, sql, presence)
  const leave = async (): Promise<void> => {
    await sweeps.stop()
    await presence.end()
  }
  const runner = await run({
    pgPool: pool,
    taskList,
    parsedCronItems: [],
    concurrency,
    noHandleSignals: true,
    // A pooler in transaction mode gives each statement another connection, which knows no names.
    noPreparedStatements: true,
    logger: problemLogger(onProblem),
  }).catch(async (error: unknown) => {
    // A search that went on would keep the process, and its connection the pool.
    await leave()
    throw notStarted(worker.name, error)
  })
  const drain = (): void => {
    if (draining.signal.aborted) return
    draining.abort(new Error(`The worker ${worker.name} is drained.`))
    // Rejects when it has ended otherwise; then `done` says why.
    runner.stop().catch(() => {})
  }
  const done = (async () => {
    try {
      await runner.promise
      if (!draining.signal.aborted) throw endedByItself(worker.name)
    } finally {
      draining.abort()
      signal?.removeEventListener('abort', drain)
      await leave()
    }
  })()
  // Who waits for it sees the rejection; without this, one that comes first would end the process.
  done.catch(() => {})
  signal?.addEventListener('abort', drain, { once: true })
  if (signal?.aborted === true) drain()
  const stop = (): Promise<void> => {
    drain()
    return done
  }
  return { name: worker.name, done, stop }
}

function notStarted(name: string, cause: unknown): SmithersError {
  return new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `The worker ${name} did not start: graphile-worker failed. ${cause instanceof Error ? cause.message : String(cause)}`,
    { details: { reason: 'queue' }, cause },
  )
}

function endedByItself(name: string): SmithersError {
  return new SmithersError(
    'TOOL_LOG_UNAVAILABLE',
    `The worker ${name} ended: graphile-worker cannot go on, mostly because a newer version has changed its tables. Its runs go on elsewhere; start the worker again with that version.`,
    { details: { reason: 'newer-schema' } },
  )
}

/** What graphile-worker logs at levels that call for attention. */
function problemLogger(onProblem: (message: string) => void): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') onProblem(message)
  })
}
