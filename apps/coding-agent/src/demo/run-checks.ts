import type { ToolCallRow } from '@smithers/tool-core'
import type { DemoCheck } from './demo-checks.ts'
import type { KilledRun } from './killed-run.ts'
import type { Payment } from './payment-server.ts'

/** Checks how the run continued after the kill, by its record and by the booked payments. */
export function checkRun(
  { signal, afterKill, afterResume }: KilledRun,
  payments: readonly Payment[],
): DemoCheck[] {
  const [run, ...others] = afterResume.runs
  const { rows, attempts } = afterResume
  const outcomes = attempts.map(({ nodeId, attempt, status }) => `${nodeId} ${attempt} ${status}`)
  const count = `${payments.length} ${payments.length === 1 ? 'payment' : 'payments'}`
  return [
    {
      claim: `Every task and all ${rows.length} calls belong to one run, which has finished.`,
      holds:
        run?.status === 'finished' &&
        others.length === 0 &&
        rows.length > 0 &&
        rows.every(({ runId }) => runId === run.runId),
    },
    {
      claim: 'The worker was killed in the middle of a payment, and the log says so.',
      holds: signal === 'SIGKILL' && paymentCalls(afterKill.rows).join() === 'charge started',
    },
    {
      claim: 'The resumed agent was warned: it checked before paying.',
      holds: paymentCalls(rows).join() === 'charge error unknown,find_payments success none',
    },
    {
      claim: `The server counted ${count}; finished tasks were not run again.`,
      holds:
        payments.length === 1 &&
        outcomes.filter((outcome) => !outcome.startsWith('repair ')).join() ===
          'explore 1 finished,verify 1 finished,share 1 finished,pay 1 interrupted,pay 2 finished,receipt 1 finished' &&
        outcomes.filter((outcome) => /^repair \d finished$/.test(outcome)).length === 1,
    },
  ]
}

function paymentCalls(rows: readonly ToolCallRow[]): string[] {
  return rows
    .filter(({ nodeId }) => nodeId === 'pay')
    .map(({ toolName, status, effect }) => [toolName, status, effect].filter(Boolean).join(' '))
}
