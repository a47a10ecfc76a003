import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import {
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
} from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, outcomes } from './call.ts'

const schema = z.object({ n: z.number() })
const calls = Array.from({ length: 50 }, (_, n) => ({ n }))

function counted(limit: number | null, options: { fails?: boolean; successes?: boolean } = {}) {
  let executions = 0
  const tool = defineTool({
    name: 'counted',
    schema,
    maxExecutionsPerRun: limit,
    ...(options.successes === true ? { executionsCounted: 'successes' as const } : {}),
    execute: async ({ n }) => {
      executions += 1
      await new Promise((resolve) => setImmediate(resolve))
      if (options.fails === true) throw new Error(`failed ${n}`)
      return n
    },
  })
  return { tool, executions: () => executions }
}

describe('maxExecutionsPerRun', () => {
  it('lets one of 50 parallel calls run when the limit is 1, and leaves a row of every call', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const { tool, executions } = counted(1)
    const ended = await outcomes(calls.map((args) => call(run, tool, args)))
    expect(executions()).toBe(1)
    expect(ended).toEqual([...Array.from({ length: 49 }, () => 'TOOL_LIMIT_REACHED'), 'ok'])
    const rows = log.snapshot()
    expect(rows).toHaveLength(50)
    expect(rows.filter(({ status }) => status === 'error').map(({ effect }) => effect)).toEqual(
      Array.from({ length: 49 }, () => 'none'),
    )
  })

  it('counts across the tasks of a run, and anew in another run', async () => {
    const log = createMemoryLog()
    const { tool, executions } = counted(2)
    const first = createToolRun({ runId: 'r', nodeId: 'a', log })
    const second = createToolRun({ runId: 'r', nodeId: 'b', log })
    const other = createToolRun({ runId: 'other', log })
    const ended = await outcomes([
      call(first, tool, { n: 1 }),
      call(second, tool, { n: 2 }),
      call(second, tool, { n: 3 }),
    ])
    expect(ended).toEqual(['TOOL_LIMIT_REACHED', 'ok', 'ok'])
    await call(other, tool, { n: 4 })
    expect(executions()).toBe(3)
  })

  it('counts what an earlier process ran, and not what it refused', async () => {
    const log = createMemoryLog()
    const before = counted(1)
    const first = createToolRun({ runId: 'r', log })
    await outcomes([call(first, before.tool, { n: 1 }), call(first, before.tool, { n: 2 })])
    // Another log object over the same rows: nothing of the first run's memory is left.
    const reopened = createMemoryLog()
    for (const {
      claim,
      outputJson,
      finishedAtMs,
      status,
      errorJson,
      effect,
      ...row
    } of log.snapshot()) {
      reopened.start(row, { durability: 'relaxed', claim })
      if (finishedAtMs === null || status === 'started') continue
      reopened.finish(row.callToken, {
        status,
        outputJson,
        errorJson,
        effect: effect ?? 'none',
        finishedAtMs,
      })
    }
    const after = counted(2)
    const second = createToolRun({ runId: 'r', attempt: 2, log: reopened })
    const ended = await outcomes([
      call(second, after.tool, { n: 3 }),
      call(second, after.tool, { n: 4 }),
    ])
    expect(ended).toEqual(['TOOL_LIMIT_REACHED', 'ok'])
    expect(after.executions()).toBe(1)
  })

  it('counts failures, unless only successes are to count', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const all = counted(1, { fails: true })
    await expect(call(run, all.tool, { n: 1 })).rejects.toThrow('failed 1')
    await expect(call(run, all.tool, { n: 2 })).rejects.toMatchObject({
      code: 'TOOL_LIMIT_REACHED',
    })
    const successes = counted(1, { fails: true, successes: true })
    const other = createToolRun({ runId: 'other', log: createMemoryLog() })
    await expect(call(other, successes.tool, { n: 1 })).rejects.toThrow('failed 1')
    await expect(call(other, successes.tool, { n: 2 })).rejects.toThrow('failed 2')
  })

  it('forbids the tool when it is 0, with a message that says so', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool, executions } = counted(0)
    await expect(call(run, tool, { n: 1 })).rejects.toThrow(/switched off/)
    expect(executions()).toBe(0)
  })

  it('gives the slot of a call back that a later gate refused', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    let executions = 0
    const tool = defineTool({
      name: 'asked',
      schema,
      maxExecutionsPerRun: 1,
      needsApproval: ({ n }) => n === 1,
      execute: () => (executions += 1),
    })
    await expect(call(run, tool, { n: 1 })).rejects.toMatchObject({
      code: 'TOOL_APPROVAL_REQUIRED',
    })
    const next = createToolRun({ runId: 'r', attempt: 2, log: run.context.log })
    await call(next, tool, { n: 2 })
    expect(executions).toBe(1)
  })

  function asked(limit: number) {
    const ran: number[] = []
    const tool = defineTool({
      name: 'asked',
      schema,
      sideEffect: true,
      maxExecutionsPerRun: limit,
      needsApproval: true,
      execute: async ({ n }, _ctx) => {
        ran.push(n)
      },
    })
    return { tool, ran }
  }
  const reached = { code: 'TOOL_LIMIT_REACHED' }
  const required = { code: 'TOOL_APPROVAL_REQUIRED' }

  it.each([
    ['the same process', (log: MemoryLog) => log],
    // Another object: nothing of the first run's memory is left.
    ['another one', (log: MemoryLog) => ({ ...log })],
  ])(
    'asks about no more calls than may run, and runs those it asked about, in %s',
    async (_where, reopened) => {
      const log = createMemoryLog()
      const { tool, ran } = asked(2)
      const first = createToolRun({ runId: 'r', log })
      await expect(call(first, tool, { n: 1 })).rejects.toMatchObject(required)
      await expect(call(first, tool, { n: 2 })).rejects.toMatchObject(required)
      await expect(call(first, tool, { n: 3 })).rejects.toMatchObject({
        ...reached,
        message: expect.stringContaining('is pending approval. Its arguments: {"n":2}') as string,
      })
      const waiting = await pendingApprovals({ log })
      expect(waiting.map(({ inputJson }) => inputJson)).toEqual(['{"n":1}', '{"n":2}'])
      for (const { id } of waiting) await resolveToolApproval({ log, id, approved: true })

      const second = createToolRun({ runId: 'r', attempt: 2, log: reopened(log) })
      // The order is another one, and a call that was never approved comes first.
      await expect(call(second, tool, { n: 3 })).rejects.toMatchObject({
        ...reached,
        message: expect.stringContaining('has been approved') as string,
      })
      await call(second, tool, { n: 2 })
      await call(second, tool, { n: 1 })
      expect(ran).toEqual([2, 1])
      await expect(call(second, tool, { n: 3 })).rejects.toThrow(/limit of 2 calls per run reached/)
    },
  )

  it('asks about another call once the first is abandoned', async () => {
    const log = createMemoryLog()
    const { tool, ran } = asked(1)
    const first = createToolRun({ runId: 'r', log })
    await expect(call(first, tool, { n: 1 })).rejects.toMatchObject(required)
    const [waiting] = await pendingApprovals({ log })
    await resolveToolApproval({ log, id: waiting?.id ?? '', approved: false })
    await expect(call(first, tool, { n: 2 })).rejects.toMatchObject(required)
    expect(ran).toEqual([])
  })

  it('runs every call that is approved while it waits', async () => {
    const { tool, ran } = asked(2)
    const run = createToolRun({
      runId: 'r',
      log: createMemoryLog(),
      onApproval: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        return { approved: true }
      },
    })
    const ended = await outcomes([1, 2, 3].map((n) => call(run, tool, { n })))
    expect(ended).toEqual(['TOOL_LIMIT_REACHED', 'ok', 'ok'])
    expect(new Set(ran)).toEqual(new Set([1, 2]))
  })

  it('answers from the cache what it would refuse to run', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    let executions = 0
    const tool = defineTool({
      name: 'both',
      schema,
      maxExecutionsPerRun: 1,
      cache: true,
      execute: () => (executions += 1),
    })
    expect(await Promise.all([call(run, tool, { n: 1 }), call(run, tool, { n: 1 })])).toEqual([
      1, 1,
    ])
    await expect(call(run, tool, { n: 2 })).rejects.toMatchObject({ code: 'TOOL_LIMIT_REACHED' })
    expect(executions).toBe(1)
  })

  it.each([-1, 1.5, Number.NaN])('is refused at definition when it is %s', (limit) => {
    expect(() => counted(limit)).toThrow(expect.objectContaining({ code: 'INVALID_TOOL' }))
  })
})
