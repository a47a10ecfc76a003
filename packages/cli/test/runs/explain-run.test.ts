import { describe, expect, test } from 'vitest'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createToolContext, defineTool, runWithToolContext } from '@smithers/tool-core'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { ApprovalRow, ToolCallRow } from '@smithers/tool-core'
import type { RunRow, TaskRow } from '@smithers/tool-core/log'
import { z } from 'zod'
import { ownerText } from '../../src/runs/owner-text.ts'
import { waitingCall } from '../../src/runs/paused-run.ts'
import { explainRun, type RunRecord, runState } from '../../src/runs/explain-run.ts'

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
  finishOrder: null,
}

/** The run as a log knows it that holds nothing else. */
function explained(row: RunRow, tasks: readonly TaskRow[], more: Partial<RunRecord> = {}): string {
  const record = {
    run: row,
    tasks,
    calls: [],
    waits: [],
    logArgument: '',
    hasResume: true,
    ...more,
  }
  return explainRun(record, nowMs)
}

const ended = { finishedAtMs: nowMs, leaseToken: null, ownerId: null } as const

describe('runState', () => {
  test.each([
    ['running', run],
    ['interrupted', { ...run, leaseExpiresAtMs: nowMs }],
    ['interrupted', { ...run, ownerId: currentOwnerId().replace(/\d+:\d+$/, '1:1') }],
    ['stopped', { ...run, ...ended, status: 'stopped', errorJson: '{"code":"WORKFLOW_STOPPED"}' }],
    ['failed', { ...run, ...ended, status: 'failed' }],
    ['queued', { ...run, ...ended, status: 'queued' }],
  ] as const)('is %s', (state, row) => {
    expect(runState(row, 0, nowMs)).toBe(state)
  })

  test('waits for an approval until every call has been decided about', () => {
    const errorJson = '{"code":"TOOL_APPROVAL_REQUIRED"}'
    const paused: RunRow = { ...run, ...ended, status: 'waiting', errorJson }
    expect(runState(paused, 1, nowMs)).toBe('waiting')
    expect(runState(paused, 0, nowMs)).toBe('decided')
  })
})

describe('explainRun', () => {
  test('tells which task a run waits for, and since when', () => {
    const done: TaskRow = { ...task, nodeId: 'share', status: 'finished' }
    expect(explained(run, [done, { ...task, iteration: 3 }])).toBe(
      `Run r1 of workflow "bills" is running in process ${ownerText(currentOwnerId())}. One task has finished. ` +
        'It waits for task "pay" (iteration 3), attempt 2, started 7 s ago.',
    )
  })

  test('tells which effects are unknown', async () => {
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
    expect(
      explained(stopped, [{ ...task, status: 'interrupted' }], { calls: [unknown] }),
    ).toContain(
      `Task "pay" was interrupted in attempt 2. It is unknown whether this happened: charge (key ${row?.idempotencyKey}).`,
    )
  })

  test('tells which approval a run waits for', () => {
    const errorJson = JSON.stringify({
      code: 'TOOL_APPROVAL_REQUIRED',
      message: 'The run is paused: a call waits for approval: a-1. Resume with runId "r1".',
    })
    const paused: RunRow = { ...run, ...ended, status: 'waiting', errorJson }
    const tasks: TaskRow[] = [{ ...task, status: 'interrupted', errorJson }]
    const logArgument = ' --log runs.db'
    const approval = { id: 'a-1', toolName: 'charge', nodeId: 'pay', prompt: 'Pay?' } as ApprovalRow
    const waits = [waitingCall(approval, logArgument)]
    const continues =
      '"smithers resume r1 --log runs.db" continues from here: finished tasks are not run again, and the agent is warned of what may have happened.'
    const begin =
      'Run r1 of workflow "bills" has been paused for approval since 2026-01-02T03:04:05.000Z. No task has finished. Task "pay" is paused in attempt 2. '
    expect(explained(paused, tasks, { waits, logArgument })).toBe(
      `${begin}It waits for a decision about charge in task "pay" ("Pay?"): "smithers approve a-1 --log runs.db" or "smithers reject a-1 --log runs.db". ${continues}`,
    )
    expect(explained(paused, tasks, { logArgument })).toBe(
      `${begin}Every pending call has been decided. ${continues}`,
    )
  })

  test('names the key of a blocked call and the command that lets it run', () => {
    const call = { nodeId: 'pay', toolName: 'charge', idempotencyKey: 'k-1', effect: 'none' }
    const blocked = {
      ...call,
      status: 'error',
      errorJson: '{"code":"TOOL_CALL_BLOCKED","message":"It was not run."}',
    } as ToolCallRow
    const other = { ...blocked, idempotencyKey: 'k-2' } as ToolCallRow
    const ran = { ...call, idempotencyKey: 'k-2', effect: 'applied', status: 'success' }
    const failed: RunRow = { ...run, ...ended, status: 'failed' }
    const calls = [blocked, other, ran as ToolCallRow]
    const text = explained(failed, [{ ...task, status: 'failed' }], { calls })
    expect(text).toContain(
      'A call of charge in task "pay" was blocked, because an earlier call may have had the same effect (key k-1). Find out what happened; if the call must run, use "smithers resume r1 --allow k-1".',
    )
    expect(text).not.toContain('k-2')
    const elsewhere = explained(failed, [], { calls, hasResume: false })
    expect(elsewhere).toContain('if the call must run, allow this key with "allow" of runWorkflow.')
    expect(elsewhere).toContain('A worker, or its program with the same runId, continues from here')
    expect(elsewhere).not.toContain('smithers')
    expect(explained({ ...run, ...ended, status: 'finished' }, [], { calls })).not.toContain('k-1')
  })

  test('tells why a run failed that had no task', () => {
    const errorJson = '{"code":"WORKFLOW_INVALID","message":"Two tasks have the id \\"a\\""}'
    const failed: RunRow = { ...run, ...ended, status: 'failed', workflow: null, errorJson }
    expect(explained(failed, [])).toMatch(
      /^Run r1 failed at .*: Two tasks have the id "a"\. \(WORKFLOW_INVALID\) No task has finished\./,
    )
  })
})
