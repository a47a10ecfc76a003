import { isSmithersError } from '@smithers/tool-core'
import type { RunEnd } from '@smithers/tool-core/log'
import { runWorkflow, type WorkflowDefinition } from '@smithers/workflow'
import { failRun } from './fail-run.ts'
import type { JobPayload } from './job.ts'
import { logOfJob } from './log-of-job.ts'
import type { QueueStatements } from './queue-statements.ts'
import { errorJsonOf, type FaredBefore, whatFollows, type WhatFollows } from './what-follows.ts'
import type { ResolvedWorker } from './worker-options.ts'

/** Everything that jobs of one worker share. */
export interface JobRunner {
  readonly worker: ResolvedWorker
  readonly sql: QueueStatements
  /** Aborted when the worker drains. */
  readonly draining: AbortSignal
  /** Definitions of which the worker has said that it has another version. */
  readonly changed: Set<string>
}

/**
 * Works on the run of a job. A job that another one has replaced, or whose run is finished, waiting or held elsewhere,
 * ends without doing anything.
 */
export async function runJob(
  runner: JobRunner,
  definition: string,
  { runId, jobKey }: JobPayload,
): Promise<void> {
  const { worker, sql, draining } = runner
  const { pool, log, runs, name, maxTries, leaseMs } = worker
  const workflow = worker.workflows[definition] as WorkflowDefinition
  const job = [runId, jobKey]
  const { rows } = await pool.query<FaredBefore & { status: string }>(sql.begin, job)
  const [entry] = rows
  if (entry === undefined || entry.status === 'waiting') return
  let before: FaredBefore = { failures: entry.failures, skips: entry.skips }
  if (draining.aborted) return await requeue({ delayMs: 0, ...before, errorJson: null })
  let left: RunEnd['status'] | undefined

  async function requeue(next: Omit<WhatFollows, 'status'>): Promise<void> {
    const { delayMs, failures, errorJson, skips } = next
    await pool.query(sql.requeue, [...job, delayMs, failures, errorJson, skips])
  }

  const watched = logOfJob(log, runs, {
    claimed: async () => {
      await pool.query(sql.taken, [...job, name])
    },
    progressed: () => {
      before = { failures: 0, skips: 0 }
    },
    leftAs: (end) => {
      const next = whatFollows(end.status, end.errorJson, before, maxTries)
      return {
        ...end,
        status: next.status,
        errorJson: next.status === 'queued' ? null : end.errorJson,
      }
    },
    left: (status) => {
      left = status
    },
  })
  try {
    await runWorkflow(workflow, { ...worker.run, runId, log: watched, leaseMs, signal: draining })
    await pool.query(sql.remove, job)
  } catch (error) {
    const errorJson = errorJsonOf(error)
    const code = isSmithersError(error) ? error.code : undefined
    if (code === 'WORKFLOW_RUN_BUSY' || code === 'WORKFLOW_RUN_LOST') return
    if (left === 'waiting') return void (await pool.query(sql.leave, job))
    const ended = code === 'WORKFLOW_STOPPED' ? 'stopped' : 'failed'
    const next = whatFollows(ended, errorJson, before, maxTries)
    if (code === 'WORKFLOW_CHANGED') sayChanged(runner, definition, runId)
    if (next.status === 'queued') return await requeue(next)
    // An error before the run was claimed has left no trace in it.
    if (left === undefined && !(await failRun(runs, runId, errorJson))) {
      // Not recorded, so not over: the log was away, or another process holds the run.
      return await requeue({ delayMs: unrecordedDelayMs, ...before, errorJson })
    }
    await pool.query(sql.remove, job)
  }
}

/** Until a run whose failure could not be recorded is tried again. */
const unrecordedDelayMs = 10_000

/** Once for a definition: every run of an older version comes here again and again. */
function sayChanged({ worker, changed }: JobRunner, definition: string, runId: string): void {
  if (changed.has(definition)) return
  changed.add(definition)
  worker.onProblem(
    `Run "${runId}" began with another version of the workflow "${definition}" than this worker has, so it is left to other workers and tried again every minute at most. Keep a worker with that version until such runs have ended, or set acceptChangedWorkflow: true in "run".`,
  )
}
