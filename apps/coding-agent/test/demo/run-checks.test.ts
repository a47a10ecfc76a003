import { describe, expect, test } from 'vitest'
import type { ToolCallRow } from '@smithers/tool-core'
import type { AttemptRow, RunRow } from '@smithers/tool-core/log'
import type { KilledRun, RecordedRun } from '../../src/demo/killed-run.ts'
import { checkRun } from '../../src/demo/run-checks.ts'

type Call = readonly [task: string, toolName: string, status: string, effect: string | null]
type Attempt = readonly [task: string, attempt: number, status: string]

const runs = [{ runId: 'demo', status: 'finished' } as RunRow]
const calls: readonly Call[] = [
  ['explore', 'grep', 'success', 'none'],
  ['pay', 'charge', 'error', 'unknown'],
  ['pay', 'find_payments', 'success', 'none'],
]
const attempts: readonly Attempt[] = [
  ['explore', 1, 'finished'],
  ['repair', 1, 'interrupted'],
  ['repair', 2, 'finished'],
  ['verify', 1, 'finished'],
  ['share', 1, 'finished'],
  ['pay', 1, 'interrupted'],
  ['pay', 2, 'finished'],
  ['receipt', 1, 'finished'],
]
const booked = { id: 'payment-1', order: 'dinner-42', cents: 3334 }

function recorded(rows: readonly Call[], runId = 'demo'): RecordedRun {
  return {
    runs,
    rows: rows.map(([nodeId, toolName, status, effect]) => {
      return { runId, nodeId, toolName, status, effect } as ToolCallRow
    }),
    attempts: attempts.map(([nodeId, attempt, status]) => {
      return { nodeId, attempt, status } as AttemptRow
    }),
    approvals: [],
  }
}

const good: KilledRun = {
  signal: 'SIGKILL',
  afterKill: recorded([['pay', 'charge', 'started', null]]),
  afterResume: recorded(calls),
}

function broken(run: KilledRun, payments = [booked]): string {
  return checkRun(run, payments)
    .filter(({ holds }) => !holds)
    .map(({ claim }) => claim)
    .join()
}

describe('checkRun', () => {
  test('finds nothing wrong with a run that went as it should', () => {
    expect(broken(good)).toBe('')
  })

  test.each([
    ['a second payment', good, [booked, booked], 'counted 2 payments'],
    ['no payment', good, [], 'counted 0 payments'],
    ['a worker that ended by itself', { ...good, signal: null }, [booked], 'was killed'],
    [
      'a kill before the payment was recorded',
      { ...good, afterKill: recorded([]) },
      [booked],
      'was killed',
    ],
    [
      'an agent that did not check',
      {
        ...good,
        afterResume: recorded([...calls.slice(0, 2), ['pay', 'charge', 'success', 'applied']]),
      },
      [booked],
      'The resumed agent was warned: it checked before paying.',
    ],
    [
      'a task that was run again',
      {
        ...good,
        afterResume: {
          ...good.afterResume,
          attempts: [
            ...good.afterResume.attempts,
            { nodeId: 'explore', attempt: 2, status: 'finished' } as AttemptRow,
          ],
        },
      },
      [booked],
      'not run again',
    ],
    [
      'a run that has not finished',
      {
        ...good,
        afterResume: { ...good.afterResume, runs: [{ runId: 'demo', status: 'failed' } as RunRow] },
      },
      [booked],
      'belong to one run',
    ],
    [
      'a call of another run',
      { ...good, afterResume: recorded(calls, 'other') },
      [booked],
      'belong to one run',
    ],
  ])('sees %s', (_what, run, payments, claim) => {
    expect(broken(run, payments)).toContain(claim)
  })
})
