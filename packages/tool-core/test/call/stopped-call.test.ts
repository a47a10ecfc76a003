import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  type StartResult,
  type ToolCallLog,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { deferred } from '../fixtures/deferred.ts'
import { call } from '../gates/call.ts'

function shop() {
  const placed: unknown[] = []
  const place = defineTool({
    name: 'place',
    schema: z.object({ sku: z.string() }),
    sideEffect: true,
    idempotent: false,
    acceptsContext: true,
    needsApproval: true,
    execute: (args) => placed.push(args),
  })
  return { place, placed }
}

describe('a call whose run is stopped', () => {
  it('does not run when a person says yes afterwards, and its approval stands', async () => {
    const log = createMemoryLog()
    const { place, placed } = shop()
    const controller = new AbortController()
    const run = createToolRun({
      runId: 'r',
      log,
      abortSignal: controller.signal,
      onApproval: () => {
        controller.abort(new Error('closed the laptop'))
        return { approved: true }
      },
    })
    await expect(call(run, place, { sku: 'a' })).rejects.toMatchObject({
      code: 'TOOL_ABORTED',
      effect: 'none',
    })
    expect(placed).toEqual([])
    expect(log.snapshot()).toMatchObject([{ status: 'error', effect: 'none' }])
    expect(log.approvals.list({})).toMatchObject([{ status: 'approved' }])
    await call(createToolRun({ runId: 'r', attempt: 2, log }), place, { sku: 'a' })
    expect(placed).toHaveLength(1)
  })

  it('does not run when that happens while its start is being stored', async () => {
    const memory = createMemoryLog()
    const stored = deferred()
    const log = {
      ...memory,
      start: async (...given: Parameters<typeof memory.start>): Promise<StartResult> => {
        const result = memory.start(...given)
        await stored.promise
        return result
      },
    }
    const placed: unknown[] = []
    const place = defineTool({
      name: 'place',
      schema: z.object({ sku: z.string() }),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      execute: (args) => placed.push(args),
    })
    const controller = new AbortController()
    const options = { abortSignal: controller.signal }
    const pending = call(createToolRun({ log }), place, { sku: 'a' }, options)
    controller.abort()
    stored.resolve()
    await expect(pending).rejects.toMatchObject({ code: 'TOOL_ABORTED', effect: 'none' })
    expect(placed).toEqual([])
    expect(memory.snapshot()).toMatchObject([{ status: 'error', effect: 'none' }])
  })
})

describe('a call that was approved and starts much later', () => {
  it('does not run when another call has run with its approval meanwhile, and gets its output', async () => {
    const memory = createMemoryLog()
    const { place, placed } = shop()
    const attempt = (number: number, log: ToolCallLog = memory) =>
      createToolRun({ runId: 'r', attempt: number, log, leaseMs: 1000 })
    await call(attempt(1), place, { sku: 'a' }).catch(() => {})
    const [requested] = await pendingApprovals({ log: memory })
    await resolveToolApproval({ log: memory, id: requested?.id ?? '', approved: true })

    const starting = deferred()
    const released = deferred()
    const slow: ToolCallLog = {
      ...memory,
      // Its process is held up right before the start is stored, for longer than the lease.
      async start(...given) {
        starting.resolve()
        await released.promise
        return memory.start(...given)
      },
    }
    const late = call(attempt(2, slow), place, { sku: 'a' })
    await starting.promise
    // A later attempt would be enough to refuse the late call; another worker of the same one is not.
    const output = await call(attempt(2), place, { sku: 'a' })
    expect(placed).toHaveLength(1)
    released.resolve()
    expect(await late).toEqual(output)
    expect(placed).toHaveLength(1)
  })
})
