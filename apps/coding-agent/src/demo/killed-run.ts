import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createSqliteLog } from '@smithers/log-sqlite'
import {
  type ApprovalRow,
  pendingApprovals,
  resolveToolApproval,
  type ToolCallRow,
} from '@smithers/tool-core'
import type { AttemptRow, RunRow } from '@smithers/tool-core/log'
import { collectRows } from '@smithers/cli/src/log/all-rows.ts'
import type { DemoReporter } from './demo-reporter.ts'
import type { PaymentServer } from './payment-server.ts'
import type { SampleRepository } from './sample-repository.ts'
import { startWorker, type Worker } from './worker.ts'

/** What the demo's run needs. */
export interface KilledRunOptions {
  readonly repository: SampleRepository
  readonly input: object
  readonly server: PaymentServer
  readonly reporter: DemoReporter
  /** A user at the terminal is asked. Otherwise the demo approves, and says so. */
  readonly interactive: boolean
  /** The workers print JSON. */
  readonly json: boolean
  readonly interrupted: AbortSignal
}

/** The record of the run, read from disk as another process would. */
export interface RecordedRun {
  readonly runs: readonly RunRow[]
  readonly attempts: readonly AttemptRow[]
  readonly rows: readonly ToolCallRow[]
  readonly approvals: readonly ApprovalRow[]
}

/** The course of the run. */
export interface KilledRun {
  /** The signal that ended the paying worker. */
  readonly signal: NodeJS.Signals | null
  readonly afterKill: RecordedRun
  readonly afterResume: RecordedRun
}

const demoRunId = 'demo'
const workflowFile = fileURLToPath(new URL('dinner-bill.tsx', import.meta.url))

/**
 * Runs the demo's workflow in a process of its own and kills it when its payment has been booked but not answered. Then
 * runs `smithers why`, and resumes the run in another process.
 */
export async function runDespiteKill(options: KilledRunOptions): Promise<KilledRun> {
  const { repository, input, server, reporter, interactive, json, interrupted } = options
  const { logPath, rootDir } = repository
  const workers: Worker[] = []
  const start = (command: string, ...args: string[]): Worker => {
    reporter.happened(`$ smithers ${command} …`)
    const quiet = interactive && command !== `why ${demoRunId}`
    const worker = startWorker(
      [...args, '--log', logPath, ...(json && args[0] !== 'why' ? ['--json'] : [])],
      { onLine: quiet ? undefined : (line) => reporter.printed(line) },
    )
    workers.push(worker)
    return worker
  }
  const resume = (): Worker => start(`resume ${demoRunId}`, 'resume', demoRunId)
  const unlessInterrupted = async <T>(work: Promise<T>): Promise<T> =>
    Promise.race([work, aborted(interrupted)])
  try {
    const where = ['--run', demoRunId, '--root', rootDir]
    const given = ['--input', JSON.stringify(input)]
    let worker = start('up dinner-bill.tsx', 'up', workflowFile, ...where, ...given)
    let booked = await unlessInterrupted(bookedBefore(worker, server))
    while (!booked && (await approveWhatWaits(options))) {
      worker = resume()
      booked = await unlessInterrupted(bookedBefore(worker, server))
    }
    if (booked) {
      reporter.happened(
        `The server has booked the payment but not answered yet: kill -9 ${worker.pid}`,
      )
    }
    worker.kill()
    const signal = await unlessInterrupted(worker.ended)
    const afterKill = await recordedRun(logPath)
    await unlessInterrupted(start(`why ${demoRunId}`, 'why', demoRunId).ended)
    await unlessInterrupted(resume().ended)
    return { signal, afterKill, afterResume: await recordedRun(logPath) }
  } finally {
    for (const worker of workers) worker.kill()
  }
}

/** True once a payment is booked; false when the worker ends first. */
function bookedBefore(worker: Worker, server: PaymentServer): Promise<boolean> {
  return Promise.race([server.booked.then(() => true), worker.ended.then(() => false)])
}

/** Approves pending calls when no user can, and says so. False when none is pending. */
async function approveWhatWaits({
  interactive,
  repository,
  reporter,
}: KilledRunOptions): Promise<boolean> {
  if (interactive) return false
  const log = createSqliteLog({ path: repository.logPath })
  try {
    const waiting = await pendingApprovals({ log, runId: demoRunId })
    for (const { id, prompt, toolName } of waiting) {
      reporter.approved(
        `${prompt ?? toolName} Approved by the demo itself in another process, because this is not a terminal.`,
      )
      await resolveToolApproval({ log, id, approved: true, decidedBy: 'demo' })
    }
    return waiting.length > 0
  } finally {
    await log.close()
  }
}

async function recordedRun(path: string): Promise<RecordedRun> {
  const log = createSqliteLog({ path })
  try {
    return {
      runs: await log.runs.list({ limit: 100 }),
      attempts: await log.runs.attempts(demoRunId),
      rows: await collectRows(log, {}),
      approvals: await log.approvals.list({}),
    }
  } finally {
    await log.close()
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}
