import { setTimeout as sleep } from 'node:timers/promises'
import { createPostgresLog, type PostgresLog } from '@smithers/log-postgres'
import { pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { enqueueWorkflow, migrateQueue } from '@smithers/worker'
import pg from 'pg'
import { type PaymentServer, startPaymentServer } from './payment-server.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-processes.ts'

/** How large a trial is. */
export interface ClusterOptions {
  readonly connectionString: string
  readonly schema: string
  readonly workers: number
  readonly runs: number
  /** Charges of each run, one a task. */
  readonly charges: number
  /** Pause between two kills, in milliseconds. */
  readonly killEveryMs: number
  /** Kills at most this many, then lets the rest finish. @default no bound */
  readonly mostKills?: number
  /** Runs whose charges need approval, one charge each. It is given while no worker lives. */
  readonly approvals: number
  /** The longest pause of the payment server before and after it books, in milliseconds. */
  readonly answerMs: number
  /** @default 1_500 */
  readonly leaseMs?: number
  /** Ends the trial. */
  readonly signal: AbortSignal
  readonly onLine?: (line: string) => void
}

/** What one definition's runs came to. */
export interface ClusterCount {
  readonly definition: string
  readonly runs: number
  readonly finished: number
  /** Payments that were wanted, and those that the server has booked. */
  readonly intended: number
  readonly counted: number
  readonly twice: number
  readonly missing: number
}

/** What a trial came to. */
export interface ClusterOutcome {
  readonly counts: readonly ClusterCount[]
  readonly kills: number
  /** Attempts that a kill interrupted. */
  readonly interrupted: number
  readonly seconds: number
  /** Every run has finished, and every payment was made once. */
  readonly holds: boolean
}

interface Trial extends ClusterOptions {
  readonly pool: pg.Pool
  readonly log: PostgresLog
  readonly payments: PaymentServer
  readonly line: (text: string) => void
  readonly processes: WorkerProcess[]
}

/**
 * Lets worker processes pay through a number of runs while they are killed one after another, and counts what a payment
 * server has booked.
 */
export async function runCluster(options: ClusterOptions): Promise<ClusterOutcome> {
  const { connectionString, schema, answerMs, onLine } = options
  const startedAt = performance.now()
  const pool = new pg.Pool({ connectionString, max: 8 })
  const workers: WorkerProcess[] = []
  const payments = await startPaymentServer(answerMs)
  try {
    await migrateQueue({ pool, schema })
    const log = await createPostgresLog({ connectionString, schema })
    try {
      const line = onLine ?? ((): void => {})
      const trial: Trial = { ...options, pool, log, payments, line, processes: workers }
      const kills = await drive(trial)
      const counts = await countEffects(trial)
      const holds = counts.every(
        ({ runs, finished, twice, missing }) => finished === runs && twice === 0 && missing === 0,
      )
      const interrupted = await interruptedAttempts(trial)
      return { counts, kills, interrupted, seconds: (performance.now() - startedAt) / 1000, holds }
    } finally {
      await log.close()
    }
  } finally {
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(workers.map(({ ended }) => ended))
    await payments.close()
    await pool.end()
  }
}

async function drive(trial: Trial): Promise<number> {
  const { pool, schema, runs, charges, approvals, workers, line } = trial
  for (let run = 1; run <= runs; run += 1) {
    const runId = `order-${run}`
    await enqueueWorkflow({
      pool,
      schema,
      definition: 'pay',
      runId,
      input: { order: runId, charges },
    })
  }
  for (let run = 1; run <= approvals; run += 1) {
    const runId = `approved-${run}`
    const input = { order: runId, charges: 1 }
    await enqueueWorkflow({ pool, schema, definition: 'pay-approved', runId, input, priority: -1 })
  }
  line(
    `Queued: ${counted(runs, 'run')} of ${counted(charges, 'payment')}, and ${counted(approvals, 'run')} with a payment that needs approval.`,
  )
  const alive = new Map<WorkerProcess, boolean>()
  for (let number = 1; number <= workers; number += 1) start(trial, alive, `worker ${number}`)
  const kills = await killUntilDone(trial, alive)
  if (approvals > 0) await approveWithoutWorkers(trial, alive)
  await until(trial, 'every run has ended', async () => (await openRuns(trial)) === 0)
  return kills
}

/** @param alive Workers that live, and whether they take runs yet. */
function start(trial: Trial, alive: Map<WorkerProcess, boolean>, name: string): void {
  const { connectionString, schema, payments, leaseMs = 1500 } = trial
  const worker = startWorkerProcess({
    connectionString,
    schema,
    name,
    url: payments.url,
    leaseMs,
    sweepMs: 500,
  })
  trial.processes.push(worker)
  alive.set(worker, false)
  void worker.ended.then(() => alive.delete(worker))
  worker.ready.then(
    () => alive.has(worker) && alive.set(worker, true),
    () => {},
  )
}

/** Kills workers that take runs, and starts another for each, until the runs without approvals have ended. */
async function killUntilDone(trial: Trial, alive: Map<WorkerProcess, boolean>): Promise<number> {
  const { killEveryMs, mostKills = Number.POSITIVE_INFINITY, workers, line, signal } = trial
  let kills = 0
  let number = workers
  for (;;) {
    await sleep(killEveryMs, undefined, { signal })
    if ((await openRuns(trial)) === 0) return kills
    const ready = [...alive].filter(([, takesRuns]) => takesRuns).map(([worker]) => worker)
    const victim = ready[Math.floor(Math.random() * ready.length)]
    // One is left alive: on a slow machine, the others may not be ready before their turn comes.
    if (victim === undefined || ready.length < 2 || kills >= mostKills) continue
    victim.kill('SIGKILL')
    await victim.ended
    kills += 1
    number += 1
    line(
      `kill -9 ${victim.pid}; ${counted(await openRuns(trial), 'run')} left, worker ${number} starts.`,
    )
    start(trial, alive, `worker ${number}`)
  }
}

async function approveWithoutWorkers(
  trial: Trial,
  alive: Map<WorkerProcess, boolean>,
): Promise<void> {
  const { log, approvals, line } = trial
  await until(trial, 'the approvals are asked for', async () => {
    return (await pendingApprovals({ log })).length === approvals
  })
  const left = [...alive.keys()]
  for (const worker of left) worker.kill('SIGKILL')
  await Promise.all(left.map(({ ended }) => ended))
  for (const { id } of await pendingApprovals({ log })) {
    await resolveToolApproval({ log, id, approved: true, decidedBy: 'demo' })
  }
  line(`No worker lives. Approved now: ${counted(approvals, 'payment')}. Then a worker starts.`)
  start(trial, alive, 'last worker')
}

/** Runs that have not ended and wait for no person. */
async function openRuns({ pool, schema }: Trial): Promise<number> {
  const { rows } = await pool.query<{ open: number }>(
    `SELECT count(*)::int AS open FROM "${schema}"._smithers_runs WHERE status IN ('queued', 'running')
      OR (status = 'waiting' AND EXISTS (SELECT FROM "${schema}"._smithers_tool_approvals AS asked
        WHERE asked.run_id = _smithers_runs.run_id AND asked.status = 'approved'))`,
  )
  return rows[0]?.open ?? 0
}

async function until(
  { signal }: Trial,
  what: string,
  holds: () => Promise<boolean>,
): Promise<void> {
  while (!(await holds())) {
    try {
      await sleep(100, undefined, { signal })
    } catch (cause) {
      throw new Error(`The trial ended before ${what}.`, { cause })
    }
  }
}

async function countEffects(trial: Trial): Promise<ClusterCount[]> {
  const { log, payments, runs, charges, approvals } = trial
  const rows = await log.runs.list({ limit: runs + approvals })
  const paid = new Map<string, number>()
  for (const { order } of payments.payments()) paid.set(order, (paid.get(order) ?? 0) + 1)
  return [
    { definition: 'pay', prefix: 'order', runs, charges },
    { definition: 'pay-approved', prefix: 'approved', runs: approvals, charges: 1 },
  ].map(({ definition, prefix, runs: count, charges: each }) => {
    const orders = Array.from({ length: count }, (_, run) => `${prefix}-${run + 1}`)
    const wanted = orders.flatMap((order) =>
      Array.from({ length: each }, (_, charge) => `${order}-${charge + 1}`),
    )
    return {
      definition,
      runs: count,
      finished: rows.filter(({ runId, status }) => status === 'finished' && orders.includes(runId))
        .length,
      intended: wanted.length,
      counted: wanted.reduce((sum, order) => sum + (paid.get(order) ?? 0), 0),
      twice: wanted.filter((order) => (paid.get(order) ?? 0) > 1).length,
      missing: wanted.filter((order) => !paid.has(order)).length,
    }
  })
}

async function interruptedAttempts({ pool, schema }: Trial): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM "${schema}"._smithers_attempts WHERE status = 'interrupted'`,
  )
  return rows[0]?.count ?? 0
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
