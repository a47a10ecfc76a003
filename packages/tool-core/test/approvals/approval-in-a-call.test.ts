import {
  type ApprovalDecision,
  createToolRun,
  defineTool,
  type OnApproval,
  pendingApprovals,
  resolveToolApproval,
  SmithersError,
  type ToolCallLog,
  type ToolRun,
} from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { call, outcomes } from '../gates/call.ts'

const schema = z.object({ sku: z.string(), amount: z.number().max(100) })
const order = { sku: 'lamp', amount: 7 }

function shop(options: { readonly approvalTtlMs?: number; readonly fails?: boolean } = {}) {
  const placed: { readonly args: unknown; readonly key: string }[] = []
  const place = defineTool({
    name: 'place_order',
    schema,
    sideEffect: true,
    idempotent: false,
    needsApproval: true,
    approvalPrompt: 'Order {{amount}} of {{sku}}?',
    ...(options.approvalTtlMs === undefined ? {} : { approvalTtlMs: options.approvalTtlMs }),
    execute: async (args, ctx) => {
      placed.push({ args, key: ctx.idempotencyKey })
      if (options.fails === true) throw new Error('shop is closed')
      return `placed ${args.amount}`
    },
  })
  return { place, placed }
}

function attempt(log: ToolCallLog, number: number, onApproval?: OnApproval): ToolRun {
  return createToolRun({ runId: 'r', nodeId: 'n', attempt: number, log, onApproval })
}

async function waiting(log: MemoryLog): Promise<string> {
  const [first] = await pendingApprovals({ log })
  return first?.id ?? 'none'
}

async function kept(log: MemoryLog): Promise<(string | null)[]> {
  const rows = await log.approvals.list({})
  return rows.map(({ approvedArgsJson }) => approvedArgsJson)
}

afterEach(() => vi.restoreAllMocks())

describe('needsApproval', () => {
  it('does not run the call, records the question and a row without effect, and pauses the run', async () => {
    const log = createMemoryLog()
    const run = attempt(log, 1)
    const { place, placed } = shop()
    await expect(call(run, place, order, { toolCallId: 'call_A' })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
      effect: 'none',
    })
    expect(placed).toEqual([])
    const [approval] = await pendingApprovals({ log, runId: 'r' })
    expect(approval).toMatchObject({
      toolName: 'place_order',
      toolCallId: 'call_A',
      inputJson: '{"sku":"lamp","amount":7}',
      prompt: 'Order 7 of lamp?',
      status: 'pending',
    })
    expect(log.snapshot()).toMatchObject([
      { status: 'error', effect: 'none', toolCallId: 'call_A' },
    ])
    await expect(run.settle()).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
      details: { approvals: [{ approvalId: approval?.id }] },
    })
  })

  it('lets siblings that need none go on, keeps many questions, and refuses calls after the pause', async () => {
    const log = createMemoryLog()
    const run = attempt(log, 1)
    const { place } = shop()
    let finish = (): void => {}
    const held = new Promise<void>((resolve) => (finish = resolve))
    const read = defineTool({
      name: 'read',
      schema: z.object({}),
      execute: () => held.then(() => 'text'),
    })
    const turn = outcomes([
      call(run, place, { sku: 'a', amount: 1 }),
      call(run, read, {}),
      call(run, place, { sku: 'b', amount: 2 }),
    ])
    await vi.waitFor(async () => expect(await pendingApprovals({ log })).toHaveLength(2))
    expect(run.fatal).toBeUndefined()
    expect(run.abortSignal.aborted).toBe(false)
    finish()
    expect(await turn).toEqual(['TOOL_APPROVAL_REQUIRED', 'TOOL_APPROVAL_REQUIRED', 'ok'])
    await vi.waitFor(() => expect(run.abortSignal.aborted).toBe(true))
    expect(run.fatal?.details['approvals']).toHaveLength(2)
    await expect(call(run, read, {})).rejects.toMatchObject({ code: 'TOOL_ABORTED' })
  })

  it('runs an approved call in the next attempt, once, with the key of the call that asked', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const [asked] = log.snapshot()
    await resolveToolApproval({ log, id: await waiting(log), approved: true, decidedBy: 'mia' })
    expect(await call(attempt(log, 2), place, order)).toBe('placed 7')
    expect(placed).toEqual([{ args: order, key: asked?.idempotencyKey }])
    expect(await log.approvals?.list({})).toMatchObject([{ status: 'used', decidedBy: 'mia' }])
  })

  it('asks again before a second execution of the same call, and says that it has run', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({ log, id: await waiting(log), approved: true })
    await call(attempt(log, 2), place, order)
    expect(await outcomes([call(attempt(log, 3), place, order)])).toEqual([
      'TOOL_APPROVAL_REQUIRED',
    ])
    expect(placed).toHaveLength(1)
    const [again] = await pendingApprovals({ log })
    expect(again?.prompt).toMatch(/has run before, and it succeeded.*Order 7 of lamp/)
  })

  it('keeps the approval for a call that did not run after all', async () => {
    const log = createMemoryLog()
    const state = { up: false }
    const flaky = defineTool({
      name: 'flaky',
      schema: z.object({ n: z.number() }),
      needsApproval: ({ n }) => n === 2,
      retry: { circuitBreakerThreshold: 1, circuitBreakerCooldownMs: 0 },
      execute: () => {
        if (!state.up) throw new Error('down')
        return 'ok'
      },
    })
    const first = attempt(log, 1)
    await outcomes([call(first, flaky, { n: 2 })])
    await resolveToolApproval({ log, id: await waiting(log), approved: true })
    vi.spyOn(Date, 'now').mockReturnValue(5)
    const second = attempt(log, 2)
    await outcomes([call(second, flaky, { n: 1 })])
    vi.spyOn(Date, 'now').mockReturnValue(4)
    expect(await outcomes([call(second, flaky, { n: 2 })])).toEqual(['TOOL_CIRCUIT_OPEN'])
    expect(await log.approvals?.list({})).toMatchObject([{ status: 'approved' }])
    state.up = true
    vi.restoreAllMocks()
    expect(await call(second, flaky, { n: 2 })).toBe('ok')
  })

  it('tells the agent why a call was rejected, in every later attempt', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({
      log,
      id: await waiting(log),
      approved: false,
      comment: 'Too expensive.',
    })
    for (const number of [2, 3]) {
      await expect(call(attempt(log, number), place, order)).rejects.toMatchObject({
        code: 'TOOL_APPROVAL_REJECTED',
        message: 'Tool call rejected: Too expensive.',
      })
    }
    expect(placed).toEqual([])
  })

  it('counts a request without a decision in time as rejected, and refuses late decisions', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop({ approvalTtlMs: 1000 })
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    const later = Date.now() + 1000
    vi.spyOn(Date, 'now').mockReturnValue(later)
    await expect(resolveToolApproval({ log, id, approved: true })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_DECIDED',
    })
    expect(await pendingApprovals({ log })).toEqual([])
    await expect(call(attempt(log, 2), place, order)).rejects.toThrow(
      /^Tool call rejected: it was not approved before/,
    )
    expect(placed).toEqual([])
  })

  it('runs with the arguments of the approver', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const approvedArgs = { sku: 'lamp', amount: 3 }
    await resolveToolApproval({ log, id: await waiting(log), approved: true, approvedArgs })
    expect(await call(attempt(log, 2), place, order)).toBe('placed 3')
    expect(placed.map(({ args }) => args)).toEqual([approvedArgs])
    expect(log.snapshot().at(-1)?.inputJson).toBe('{"sku":"lamp","amount":3}')
    // Once used they are not kept.
    expect(await log.approvals?.list({})).toMatchObject([{ approvedArgsJson: null }])
  })

  it('keeps the arguments of the approver while they may still be needed, and no longer', async () => {
    const log = createMemoryLog()
    const state: { error: Error } = {
      error: new SmithersError('TOOL_COMMAND_FAILED', 'not sent', { effect: 'none' }),
    }
    const placed: unknown[] = []
    const place = defineTool({
      name: 'place_order',
      schema,
      sideEffect: true,
      needsApproval: true,
      acceptsContext: true,
      execute: (args) => {
        placed.push(args)
        throw state.error
      },
    })
    const approvedArgs = { sku: 'lamp', amount: 3 }
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({ log, id: await waiting(log), approved: true, approvedArgs })
    // Certainly without effect: the approval stands, and so do its arguments.
    await outcomes([call(attempt(log, 2), place, order)])
    expect(await kept(log)).toEqual([JSON.stringify(approvedArgs)])
    state.error = new Error('connection lost')
    await outcomes([call(attempt(log, 3), place, order)])
    expect(placed).toEqual([approvedArgs, approvedArgs])
    expect(await kept(log)).toEqual([null])
  })

  it('erases what the approver gave to a call whose process ended, when the run continues', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const [asked] = log.snapshot()
    const approvedArgs = { sku: 'lamp', amount: 3 }
    const { id } = await resolveToolApproval({
      log,
      id: await waiting(log),
      approved: true,
      approvedArgs,
    })
    // What a process leaves that is killed while the tool runs.
    const { status, finishedAtMs, outputJson, errorJson, effect, claim, ...row } = asked!
    void [status, finishedAtMs, outputJson, errorJson, effect, claim]
    const killed = { ...row, callToken: 'killed', seq: 9, ownerId: null, leaseExpiresAtMs: 2 }
    log.start(killed, { durability: 'fsync', claim: null, approvalId: id })
    expect(await kept(log)).toEqual([JSON.stringify(approvedArgs)])
    // Another process has its own log object.
    await outcomes([call(attempt({ ...log }, 2), place, { sku: 'other', amount: 1 })])
    expect(await kept(log)).toEqual([null, null])
  })

  it('does not fail a call that has run when its approval cannot be cleaned up', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const approvedArgs = { sku: 'lamp', amount: 3 }
    await resolveToolApproval({ log, id: await waiting(log), approved: true, approvedArgs })
    const { approvals } = log
    const failing: ToolCallLog = {
      ...log,
      approvals: {
        ...approvals,
        update(id, expected, patch) {
          if (patch.status === 'used') throw new Error('the disk is full')
          return approvals.update(id, expected, patch)
        },
      },
    }
    const errors: unknown[] = []
    const onLogError = (error: unknown): number => errors.push(error)
    const run = createToolRun({ runId: 'r', nodeId: 'n', attempt: 2, log: failing, onLogError })
    expect(await call(run, place, order)).toBe('placed 3')
    expect(placed).toHaveLength(1)
    expect(errors).toEqual([new Error('the disk is full')])
  })

  it('keeps two equal calls of one turn apart: each needs its own approval', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    const first = attempt(log, 1)
    await outcomes([call(first, place, order), call(first, place, order)])
    const pending = await pendingApprovals({ log })
    expect(pending).toHaveLength(2)
    await resolveToolApproval({ log, id: pending[0]?.id ?? '', approved: true })
    const second = attempt(log, 2)
    expect(await outcomes([call(second, place, order), call(second, place, order)])).toEqual([
      'TOOL_APPROVAL_REQUIRED',
      'ok',
    ])
    expect(placed).toHaveLength(1)
  })

  it('decides by arguments, and counts a function that throws as yes', async () => {
    const log = createMemoryLog()
    const risky = defineTool({
      name: 'risky',
      schema: z.object({ n: z.number() }),
      needsApproval: ({ n }, ctx) => {
        if (n < 0) throw new Error('cannot tell')
        return n > 10 && ctx.toolName === 'risky'
      },
      execute: ({ n }) => n,
    })
    const run = attempt(log, 1)
    const results = await outcomes([-1, 5, 11].map((n) => call(run, risky, { n })))
    expect(results).toEqual(['TOOL_APPROVAL_REQUIRED', 'TOOL_APPROVAL_REQUIRED', 'ok'])
  })

  it('shows the approver no more than the log may hold', async () => {
    const log = createMemoryLog()
    const write = defineTool({
      name: 'write',
      schema: z.object({ path: z.string(), content: z.string(), password: z.string() }),
      needsApproval: true,
      approvalPrompt: 'Write {{content}} with {{password}} to {{path}}?',
      approvalDefaults: (args) => ({ ...args, path: 'b.txt' }),
      logInput: ({ path, content, password }) => ({ path, bytes: content.length, password }),
      execute: () => 'ok',
    })
    await outcomes([
      call(attempt(log, 1), write, { path: 'a.txt', content: 'hidden', password: 'hunter2' }),
    ])
    const [approval] = await pendingApprovals({ log })
    expect(approval?.prompt).toBe('Write {{content}} with {{password}} to a.txt?')
    expect(JSON.parse(approval?.defaultsJson ?? '')).toMatchObject({ path: 'b.txt', bytes: 6 })
    expect(JSON.stringify(approval)).not.toMatch(/hidden|hunter2/)
  })

  it('fails closed with a log that cannot keep approvals', async () => {
    const { approvals: _none, ...log } = createMemoryLog()
    const { place, placed } = shop()
    await expect(call(attempt(log, 1), place, order)).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
    })
    expect(placed).toEqual([])
  })
})

describe('onApproval', () => {
  it('is asked with the real arguments while the run goes on, and again when its arguments are wrong', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    const seen: (string | undefined)[] = []
    const answers: ApprovalDecision[] = [
      { approved: true, approvedArgs: { sku: 'lamp', amount: 1000 } },
      { approved: true, approvedArgs: { sku: 'lamp', amount: 9 }, decidedBy: 'mia' },
    ]
    const run = attempt(log, 1, ({ args, problem }) => {
      expect(args).toEqual(order)
      seen.push(problem)
      return answers.shift()
    })
    expect(await call(run, place, order)).toBe('placed 9')
    expect(seen).toEqual([undefined, expect.stringContaining('amount')])
    expect(placed).toHaveLength(1)
    expect(await run.settle('done')).toBe('done')
  })

  it('leaves the question pending when it has no answer', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    const run = attempt(log, 1, () => undefined)
    expect(await outcomes([call(run, place, order)])).toEqual(['TOOL_APPROVAL_REQUIRED'])
    expect(await pendingApprovals({ log })).toHaveLength(1)
  })
})

describe('resolveToolApproval', () => {
  it('takes the id of the call as well, and refuses ids that mean nothing or too much', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    const one = createToolRun({ runId: 'one', log })
    const two = createToolRun({ runId: 'two', log })
    await outcomes([one, two].map((run) => call(run, place, order, { toolCallId: 'call_1' })))
    await expect(resolveToolApproval({ log, id: 'call_1', approved: true })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    const decided = await resolveToolApproval({ log, id: 'call_1', runId: 'two', approved: true })
    expect(decided).toMatchObject({ runId: 'two', status: 'approved' })
    await expect(resolveToolApproval({ log, id: 'nothing', approved: true })).rejects.toMatchObject(
      {
        code: 'TOOL_APPROVAL_NOT_FOUND',
      },
    )
  })

  it('decides for no run by an id that calls of two runs share', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    for (const runId of ['a', 'b']) {
      const run = createToolRun({ runId, log })
      await outcomes([call(run, place, order, { toolCallId: 'call_0' })])
    }
    const [first] = await pendingApprovals({ log, runId: 'a' })
    await resolveToolApproval({ log, id: first?.id ?? '', approved: false })
    await expect(resolveToolApproval({ log, id: 'call_0', approved: true })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/2 calls of 2 runs have the id call_0/),
    })
    await resolveToolApproval({ log, runId: 'b', id: 'call_0', approved: true })
    expect(log.approvals.list({})).toMatchObject([{ status: 'approved' }, { status: 'rejected' }])
  })

  it('lists every pending approval, the oldest first, however many there are', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(createToolRun({ runId: 'first', log }), place, order)])
    const [row] = await pendingApprovals({ log })
    for (let index = 0; index < 1200; index += 1) {
      log.approvals.request({ ...row!, id: `more-${index}`, runId: `more-${index}` })
    }
    const pending = await pendingApprovals({ log })
    expect(pending).toHaveLength(1201)
    expect(pending[0]?.runId).toBe('first')
  })

  it('lets one of two deciders win, and tells the other what was decided', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    const results = await Promise.allSettled([
      resolveToolApproval({ log, id, approved: true, decidedBy: 'mia' }),
      resolveToolApproval({ log, id, approved: false, decidedBy: 'tom' }),
    ])
    const [winner] = results.filter(({ status }) => status === 'fulfilled')
    const loser = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect(winner).toBeDefined()
    expect(loser.reason).toMatchObject({ code: 'TOOL_APPROVAL_DECIDED' })
    const [row] = (await log.approvals?.list({ id })) ?? []
    expect((loser.reason as Error).message).toContain(`${row?.status} by ${row?.decidedBy}`)
  })

  it('accepts the same decision twice, and no other one', async () => {
    const log = createMemoryLog()
    const { place } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    const decision = {
      log,
      id,
      approved: true,
      approvedArgs: { amount: 1, sku: 'x' },
      decidedBy: 'mia',
    }
    await resolveToolApproval(decision)
    expect(
      await resolveToolApproval({ ...decision, approvedArgs: { sku: 'x', amount: 1 } }),
    ).toMatchObject({
      status: 'approved',
    })
    for (const other of [{ approvedArgs: { sku: 'x', amount: 2 } }, { decidedBy: 'tom' }]) {
      await expect(resolveToolApproval({ ...decision, ...other })).rejects.toMatchObject({
        code: 'TOOL_APPROVAL_DECIDED',
      })
    }
  })

  it('refuses arguments that violate the schema, and the question stays pending', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    const id = await waiting(log)
    for (const approvedArgs of [{ sku: 'lamp', amount: 101 }, { sku: 'lamp' }, 'lamp']) {
      await expect(
        resolveToolApproval({ log, id, approved: true, approvedArgs }),
      ).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      })
    }
    expect(await waiting(log)).toBe(id)
    expect(await outcomes([call(attempt(log, 2), place, order)])).toEqual([
      'TOOL_APPROVAL_REQUIRED',
    ])
    expect(placed).toEqual([])
  })

  it.each(['amount: must be even', 'The schema could not check them: amount is no number'])(
    'asks again when only the tool itself could find out: %s',
    async (problem) => {
      const log = createMemoryLog()
      const placed: unknown[] = []
      const even = (amount: number): boolean => {
        if (problem.startsWith('The schema')) throw new Error('amount is no number')
        return amount % 2 === 0
      }
      const place = defineTool({
        name: 'place_order',
        // JSON Schema cannot say this, so another process cannot check it.
        schema: z.object({
          sku: z.string(),
          amount: z.number().refine((amount) => amount === 7 || even(amount), 'must be even'),
        }),
        sideEffect: true,
        needsApproval: true,
        approvalPrompt: 'Order {{amount}} of {{sku}}?',
        approvalTtlMs: 60_000,
        execute: async (args) => placed.push(args),
      })
      await outcomes([call(attempt(log, 1), place, order)])
      const [asked] = await pendingApprovals({ log })
      const id = asked?.id ?? ''
      const approvedArgs = { sku: 'lamp', amount: 3 }
      await resolveToolApproval({ log, id, approved: true, approvedArgs, decidedBy: 'mia' })
      const run = attempt(log, 2)
      const refused = await call(run, place, order).catch((error: unknown) => error)
      expect(refused).toMatchObject({
        code: 'TOOL_APPROVAL_REQUIRED',
        effect: 'none',
        message: expect.stringContaining(`The arguments given by mia do not match the schema`),
      })
      await expect(run.settle()).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
      expect(placed).toEqual([])
      expect(await pendingApprovals({ log })).toMatchObject([
        {
          id,
          prompt: expect.stringMatching(
            new RegExp(`${problem}.*decide again. Order 7 of lamp\\?$`),
          ),
          decidedBy: null,
          approvedArgsJson: null,
          expiresAtMs: expect.any(Number),
        },
      ])
      await resolveToolApproval({ log, id, approved: true })
      await call(attempt(log, 3), place, order)
      expect(placed).toEqual([order])
    },
  )

  it('asks whoever is there again when the stored arguments turn out wrong', async () => {
    const log = createMemoryLog()
    const placed: unknown[] = []
    const place = defineTool({
      name: 'place_order',
      schema: z.object({ amount: z.number().refine((amount) => amount % 2 === 1, 'must be odd') }),
      sideEffect: true,
      needsApproval: true,
      acceptsContext: true,
      execute: async (args) => placed.push(args),
    })
    await outcomes([call(attempt(log, 1), place, { amount: 7 })])
    const id = await waiting(log)
    await resolveToolApproval({ log, id, approved: true, approvedArgs: { amount: 4 } })
    const prompts: (string | null)[] = []
    const run = attempt(log, 2, ({ approval }) => {
      prompts.push(approval.prompt)
      return { approved: true, approvedArgs: { amount: 5 } }
    })
    await call(run, place, { amount: 7 })
    expect(prompts).toEqual([expect.stringContaining('amount: must be odd')])
    expect(placed).toEqual([{ amount: 5 }])
  })

  it('runs an approved call once when two resumed runs make it at the same time', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    await outcomes([call(attempt(log, 1), place, order)])
    await resolveToolApproval({ log, id: await waiting(log), approved: true })
    const results = await Promise.all(
      [2, 3].map((number) => call(attempt(log, number), place, order)),
    )
    expect(results).toEqual(['placed 7', 'placed 7'])
    expect(placed).toHaveLength(1)
  })
})
