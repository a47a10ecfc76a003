import { createToolRun, defineTool, type OnApproval, pendingApprovals } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call } from '../gates/call.ts'

const sent: unknown[] = []

beforeEach(() => {
  sent.length = 0
})

function mailer(needsApproval: unknown) {
  return defineTool({
    name: 'send',
    schema: z.object({ to: z.string() }),
    sideEffect: true,
    acceptsContext: true,
    needsApproval: needsApproval as boolean,
    execute: (args) => sent.push(args),
  })
}

describe('onApproval', () => {
  it.each([
    ['a promise that was not awaited', { approved: Promise.resolve(false) }],
    ['the text "false"', { approved: 'false' }],
    ['a number', { approved: 1 }],
    ['nothing about the approval', {}],
    ['true itself', true],
    ['a text', 'yes'],
    ['null', null],
  ])('does not let a call run that it answers with %s', async (_what, answer) => {
    const log = createMemoryLog()
    const onApproval = (() => answer) as unknown as OnApproval
    const run = createToolRun({ runId: 'r', log, onApproval })
    await expect(call(run, mailer(true), { to: 'ada' })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
      message: expect.stringContaining('onApproval must answer'),
    })
    expect(sent).toEqual([])
    expect(await pendingApprovals({ log })).toHaveLength(1)
  })

  it.each([
    [true, ['ok']],
    [false, []],
  ])('decides with approved: %s, as a control', async (approved, expected) => {
    const run = createToolRun({
      runId: 'r',
      log: createMemoryLog(),
      onApproval: () => ({ approved }),
    })
    await call(run, mailer(true), { to: 'ada' }).catch(() => {})
    expect(sent.map(() => 'ok')).toEqual(expected)
  })

  it('does not hold a call that was aborted, and keeps the decision that comes later', async () => {
    const log = createMemoryLog()
    const controller = new AbortController()
    const { promise, resolve } = Promise.withResolvers<{ approved: boolean }>()
    const onApproval: OnApproval = () => {
      queueMicrotask(() => controller.abort(new Error('stopped')))
      return promise
    }
    const run = createToolRun({ runId: 'r', log, onApproval, abortSignal: controller.signal })
    await expect(call(run, mailer(true), { to: 'ada' })).rejects.toMatchObject({
      code: 'TOOL_ABORTED',
    })
    resolve({ approved: true })
    await call(createToolRun({ runId: 'r', attempt: 2, log }), mailer(true), { to: 'ada' })
    expect(sent).toHaveLength(1)
  })
})

describe('needsApproval', () => {
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['0', 0],
    ['an empty text', ''],
  ])('requests approval when it returns %s', async (_what, answer) => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    await expect(
      call(
        run,
        mailer(() => answer),
        { to: 'ada' },
      ),
    ).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    expect(sent).toEqual([])
  })

  it('lets the call run when it returns false, as a control', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    await call(
      run,
      mailer(async () => false),
      { to: 'ada' },
    )
    expect(sent).toHaveLength(1)
  })
})
