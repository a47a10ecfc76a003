import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  type StartResult,
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
    expect(log.approvals.list({})).toMatchObject([{ status: 'approved', usedBy: null }])
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

describe('a call that took an approval and starts much later', () => {
  it('does not run when its approval was taken for unused and another call has run with it', async () => {
    const memory = createMemoryLog()
    const { place, placed } = shop()
    const attempt = (number: number, log = memory) =>
      createToolRun({ runId: 'r', attempt: number, log, leaseMs: 1000 })
    await call(attempt(1), place, { sku: 'a' }).catch(() => {})
    const [asked] = await pendingApprovals({ log: memory })
    await resolveToolApproval({ log: memory, id: asked?.id ?? '', approved: true })

    const taken = deferred()
    const released = deferred()
    const slow = {
      ...memory,
      approvals: {
        ...memory.approvals,
        // Its process is held up once it has the approval, for longer than the lease.
        async update(...given: Parameters<typeof memory.approvals.update>): Promise<boolean> {
          const done = await memory.approvals.update(...given)
          const [row] = await memory.approvals.list({ id: given[0] })
          await memory.approvals.update(given[0], row!, { usedAtMs: 1 })
          taken.resolve()
          await released.promise
          return done
        },
      },
    }
    const late = call(attempt(2, slow), place, { sku: 'a' })
    await taken.promise
    await call(attempt(3), place, { sku: 'a' })
    expect(placed).toHaveLength(1)
    released.resolve()
    await expect(late).rejects.toMatchObject({ code: 'TOOL_CALL_IN_PROGRESS', effect: 'none' })
    expect(placed).toHaveLength(1)
  })
})
