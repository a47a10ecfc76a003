import { tracingChannel } from 'node:diagnostics_channel'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  type ToolCallEvent,
  type ToolContext,
  type ToolRunOptions,
  type Verification,
} from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'

const forEver = new Promise<never>(() => {})
const marker = '[smithers:tool-resume-warning]'

/** A second attempt at a call whose first attempt may have had its effect. */
async function secondAttempt(
  verify: (ctx: ToolContext) => unknown,
  { timeoutMs, ...options }: ToolRunOptions & { readonly timeoutMs?: number } = {},
) {
  const log = createMemoryLog()
  let runs = 0
  const pay = defineTool({
    name: 'pay',
    schema: z.object({}),
    sideEffect: true,
    ...(timeoutMs !== undefined && { timeoutMs }),
    verify: (_args, _prior, ctx) => verify(ctx) as Verification<string>,
    execute: async (_args, _ctx): Promise<string> => {
      runs += 1
      throw new Error('socket hang up')
    },
  })
  const attempt = (number: number, abortSignal?: AbortSignal): Promise<string> =>
    createToolRun({ runId: 'r', log, attempt: number, ...options })
      .tools({ pay })
      .pay.execute({}, { ...callOptions(), abortSignal })
  await attempt(1).catch(() => {})
  return { log, attempt: (signal?: AbortSignal) => attempt(2, signal), runs: () => runs }
}

const lastRow = (log: MemoryLog) => log.snapshot().at(-1)

describe('verify', () => {
  test.each([
    ['of the tool', { timeoutMs: 20 }, {}],
    ['of the run', {}, { timeoutMs: 20 }],
  ])(
    'is given up after the time limit %s, and its signal is aborted',
    async (_whose, tool, run) => {
      let signal: AbortSignal | undefined
      const { log, attempt, runs } = await secondAttempt(
        (ctx) => {
          signal = ctx.abortSignal
          return forEver
        },
        { ...run, ...tool },
      )
      await expect(attempt()).rejects.toMatchObject({
        code: 'TOOL_OUTCOME_UNKNOWN',
        message: expect.stringContaining('longer than 20 ms') as string,
        cause: { code: 'TOOL_TIMEOUT' },
      })
      expect(signal?.aborted).toBe(true)
      expect(runs()).toBe(1)
      expect(lastRow(log)).toMatchObject({ status: 'error', effect: 'none' })
    },
  )

  test('is given up when the agent is stopped', async () => {
    const controller = new AbortController()
    const { log, attempt, runs } = await secondAttempt(() => {
      setImmediate(() => controller.abort(new Error('enough')))
      return forEver
    })
    await expect(attempt(controller.signal)).rejects.toMatchObject({ code: 'TOOL_ABORTED' })
    expect(runs()).toBe(1)
    expect(lastRow(log)).toMatchObject({ status: 'error', effect: 'none' })
  })

  test.each([undefined, null, 'no', {}, { happened: 'yes' }, { happened: true }])(
    'that answers %j has found out nothing, so the tool does not run',
    async (verdict) => {
      const { attempt, runs } = await secondAttempt(() => verdict)
      await expect(attempt()).rejects.toMatchObject({
        code: 'TOOL_OUTCOME_UNKNOWN',
        cause: { code: 'INVALID_TOOL' },
      })
      expect(runs()).toBe(1)
    },
  )

  test('that cannot tell lets the tool run, with a note to the model', async () => {
    const { attempt, runs } = await secondAttempt(() => ({ happened: 'unknown' }))
    await expect(attempt()).rejects.toThrow(marker)
    expect(runs()).toBe(2)
  })
})

describe('durabilitySnapshot', () => {
  test('that never settles holds the call no longer than the time limit of the run', async () => {
    const ended = vi.fn<(event: unknown) => void>()
    const channel = tracingChannel<unknown, ToolCallEvent>('smithers:tool-call')
    channel.asyncEnd.subscribe(ended)
    const act = defineTool({
      name: 'act',
      schema: z.object({}),
      sideEffect: true,
      execute: (_args, _ctx) => 'done',
    })
    const run = createToolRun({ timeoutMs: 20, durabilitySnapshot: () => forEver })
    expect(await run.tools({ act }).act.execute({}, callOptions())).toBe('done')
    channel.asyncEnd.unsubscribe(ended)
    expect(ended.mock.lastCall?.[0]).toMatchObject({
      snapshotError: { code: 'TOOL_TIMEOUT', details: { toolName: 'act', timeoutMs: 20 } },
    })
  })
})
