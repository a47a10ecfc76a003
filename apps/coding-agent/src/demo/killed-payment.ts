import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DemoCheck } from './demo-checks.ts'
import { startPaymentServer } from './payment-server.ts'
import type { SampleRepository } from './sample-repository.ts'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createSqliteRunStore } from '@smithers/workflow/sqlite-store'

/** What this act of the demo needs. */
export interface KilledPaymentOptions {
  readonly repository: SampleRepository
  /** Told what happens, a line at a time. */
  readonly say: (line: string) => void
  readonly interrupted: AbortSignal
}

const runId = 'settle-the-bill'
const program = fileURLToPath(new URL('../smithers.ts', import.meta.url))
const workflowFile = fileURLToPath(new URL('payment-workflow.tsx', import.meta.url))

/**
 * Starts a workflow in a process of its own, kills that process when its payment has arrived and its answer has not, and
 * resumes the workflow in another. Judged by what the payment server has booked.
 */
export async function payDespiteKill(options: KilledPaymentOptions): Promise<DemoCheck[]> {
  const { repository, say, interrupted } = options
  const logPath = join(repository.folder, 'runs.db')
  const server = await startPaymentServer()
  const children: ChildProcess[] = []
  const start = (args: readonly string[]): ChildProcess => {
    say(`$ smithers ${args.slice(0, 2).join(' ').replace(workflowFile, 'payment-workflow.tsx')} …`)
    const child = startWorker([...args, '--log', logPath], say)
    children.push(child)
    return child
  }
  try {
    const input = { order: 'dinner-42', totalCents: 10_000, people: 3, url: server.url }
    const first = start([
      'up',
      workflowFile,
      '--run',
      runId,
      '--root',
      repository.rootDir,
      '--input',
      JSON.stringify(input),
    ])
    const ended = once(first, 'close')
    await Promise.race([server.booked, ended, aborted(interrupted)])
    say(`The server has booked the payment and not answered yet: kill -9 ${first.pid}`)
    first.kill('SIGKILL')
    await Promise.race([ended, aborted(interrupted)])
    const afterKill = await whatIsRecorded(logPath)

    await Promise.race([once(start(['why', runId]), 'close'), aborted(interrupted)])
    await Promise.race([once(start(['resume', runId]), 'close'), aborted(interrupted)])
    const afterResume = await whatIsRecorded(logPath)
    const booked = server.payments().length
    return [
      {
        claim: 'The worker was killed in the middle of a payment, and the log says so.',
        holds: first.signalCode === 'SIGKILL' && afterKill.calls.at(-1) === 'charge started',
      },
      {
        claim: 'The resumed agent was warned: it looked before it paid.',
        holds:
          afterResume.calls.join() === 'bash success,charge error unknown,find_payments success',
      },
      {
        claim: `The server counted ${booked} ${booked === 1 ? 'payment' : 'payments'}; what had finished was not run again.`,
        holds:
          booked === 1 &&
          afterResume.attempts.join() ===
            'share 1 finished,pay 1 interrupted,pay 2 finished,receipt 1 finished',
      },
    ]
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await server.close()
  }
}

function startWorker(args: readonly string[], say: (line: string) => void): ChildProcess {
  const flags = ['--conditions=@smithers/source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (line.trim() !== '') say(`  ${line}`)
    })
  }
  return child
}

/** Read from the disk, as another process would. */
async function whatIsRecorded(
  path: string,
): Promise<{ readonly calls: string[]; readonly attempts: string[] }> {
  const log = createSqliteLog({ path })
  const store = createSqliteRunStore({ path })
  try {
    const rows = await log.list({ runId })
    const attempts = await store.attempts(runId)
    return {
      calls: rows.map(({ toolName, status, effect }) =>
        effect === 'unknown' ? `${toolName} ${status} unknown` : `${toolName} ${status}`,
      ),
      attempts: attempts.map(({ nodeId, attempt, status }) => `${nodeId} ${attempt} ${status}`),
    }
  } finally {
    await log.close()
    await store.close()
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}
