import { describe, expect, test } from 'vitest'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createToolContext, defineTool, runWithToolContext } from '@smithers/tool-core'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { RunRow, TaskRow } from '@smithers/workflow'
import { z } from 'zod'
import { explainRun, runState } from '../../src/workflow/explain-run.ts'

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5)

const run: RunRow = {
  runId: 'r1',
  workflow: 'bills',
  status: 'running',
  inputJson: '{}',
  optionsJson: '{}',
  errorJson: null,
  startedAtMs: nowMs - 9000,
  finishedAtMs: null,
  ownerId: currentOwnerId(),
  leaseToken: 'lease',
  leaseExpiresAtMs: nowMs + 1000,
}

const task: TaskRow = {
  runId: 'r1',
  nodeId: 'pay',
  iteration: 0,
  taskId: 'pay',
  outputName: null,
  status: 'running',
  attempt: 2,
  outputJson: null,
  errorJson: null,
  startedAtMs: nowMs - 7000,
  finishedAtMs: null,
  place: null,
}

const ended = { finishedAtMs: nowMs, leaseToken: null, ownerId: null } as const

describe('runState', () => {
  test.each([
    ['running', run],
    ['interrupted', { ...run, leaseExpiresAtMs: nowMs }],
    ['interrupted', { ...run, ownerId: currentOwnerId().replace(/\d+:\d+$/, '1:1') }],
    ['stopped', { ...run, ...ended, status: 'stopped', errorJson: '{"code":"WORKFLOW_STOPPED"}' }],
    [
      'waiting',
      { ...run, ...ended, status: 'stopped', errorJson: '{"code":"TOOL_APPROVAL_REQUIRED"}' },
    ],
    ['failed', { ...run, ...ended, status: 'failed' }],
  ] as const)('is %s', (state, row) => {
    expect(runState(row, nowMs)).toBe(state)
  })
})

describe('explainRun', () => {
  test('tells which task a run waits for, and since when', () => {
    const done: TaskRow = { ...task, nodeId: 'share', status: 'finished' }
    expect(explainRun(run, [done, { ...task, iteration: 3 }], [], nowMs)).toBe(
      `Run r1 of workflow "bills" is running in process ${currentOwnerId()}. One task has finished. ` +
        'It waits for task "pay" (iteration 3), attempt 2, begun 7 s ago.',
    )
  })

  test('tells which effects nobody can vouch for', async () => {
    const log = createMemoryLog()
    const charge = defineTool({
      name: 'charge',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      execute: async (_args, ctx) => {
        throw new Error(`no answer for ${ctx.idempotencyKey}`)
      },
    })
    const context = createToolContext({ runId: 'r1', nodeId: 'pay', attempt: 2, log })
    const call = runWithToolContext(context, () =>
      charge.execute({}, { toolCallId: 'call-1', messages: [] }),
    )
    await expect(call).rejects.toThrow('no answer')
    const [row] = log.list({})
    const unknown = { ...row, errorJson: '{"code":"TOOL_OUTCOME_UNKNOWN"}' } as NonNullable<
      typeof row
    >
    const stopped: RunRow = { ...run, ...ended, status: 'stopped' }
    expect(explainRun(stopped, [{ ...task, status: 'interrupted' }], [unknown], nowMs)).toContain(
      `Task "pay" was interrupted in attempt 2. Whether this happened is unknown: charge (key ${row?.idempotencyKey}).`,
    )
  })

  test('tells which approval a run waits for', () => {
    const errorJson = JSON.stringify({
      code: 'TOOL_APPROVAL_REQUIRED',
      message: 'The run is paused: a call waits for approval: a-1. Resume with runId "r1".',
    })
    const paused: RunRow = { ...run, ...ended, status: 'stopped', errorJson }
    expect(explainRun(paused, [{ ...task, status: 'interrupted', errorJson }], [], nowMs)).toBe(
      'Run r1 of workflow "bills" waits since 2026-01-02T03:04:05.000Z: The run is paused: a call waits for approval: a-1. ' +
        '(TOOL_APPROVAL_REQUIRED) No task has finished. Task "pay" is paused in attempt 2. ' +
        '"smithers resume r1" goes on from here: finished tasks are not run again, and the agent is told what may have happened.',
    )
  })

  test('tells why a run failed that had no task', () => {
    const errorJson = '{"code":"WORKFLOW_INVALID","message":"Two tasks have the id \\"a\\""}'
    const failed: RunRow = { ...run, ...ended, status: 'failed', workflow: null, errorJson }
    expect(explainRun(failed, [], [], nowMs)).toMatch(
      /^Run r1 failed at .*: Two tasks have the id "a"\. \(WORKFLOW_INVALID\) No task has finished\./,
    )
  })
})
