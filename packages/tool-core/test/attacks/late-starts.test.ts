import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool, type ToolCallLog, type ToolRun } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'
import { createLateLog } from '../fixtures/late-log.ts'
import { deferred } from '../fixtures/deferred.ts'

// A worker is cut off from its log for longer than its lease. Another one begins the next attempt. Whatever the first one
// then still wants to do, in the same words or in others, must not happen.

const logs: readonly (readonly [name: string, create: () => ToolCallLog])[] = [
  ['a memory log', () => createMemoryLog()],
  ['a log that answers later', () => createLateLog(createMemoryLog())],
  ['a SQLite log', openSqlite],
]

function openSqlite(): ToolCallLog {
  const log = createSqliteLog({ path: ':memory:' })
  onTestFinished(() => log.close())
  return log
}

/** A tool, and what it did. */
function charging(idempotent = false) {
  const charged: number[] = []
  const charge = defineTool({
    name: 'charge',
    schema: z.object({ cents: z.number() }),
    sideEffect: true,
    idempotent,
    acceptsContext: true,
    async execute({ cents }) {
      charged.push(cents)
      return `charged ${cents}`
    },
  })
  const by = async (run: ToolRun, cents: number): Promise<unknown> =>
    run.tools({ charge }).charge.execute({ cents }, callOptions())
  return { charged, by }
}

describe.each(logs)('with %s, a worker whose attempt was given up', (_, create) => {
  test.each([true, false])('charges nothing more (idempotent: %s)', async (idempotent) => {
    const log = create()
    const { charged, by } = charging(idempotent)
    const late = createToolRun({ runId: 'r', log })
    await by(late, 1)
    const next = createToolRun({ runId: 'r', attempt: 2, log })
    await by(next, 2)
    const fenced = { code: 'TOOL_CALL_FENCED', effect: 'none', details: { attempt: 1 } }
    await expect(by(late, 3)).rejects.toMatchObject(fenced)
    expect(late.abortSignal.aborted).toBe(true)
    await expect(late.settle('done')).rejects.toMatchObject(fenced)
    expect(await next.settle('done')).toBe('done')
    expect(charged).toEqual([1, 2])
    expect((await log.list({})).map(({ attempt }) => attempt)).toEqual([1, 2])
  })

  test('cannot begin either, when it has made no call before', async () => {
    const log = create()
    const { charged, by } = charging()
    const late = createToolRun({ runId: 'r', log })
    await by(createToolRun({ runId: 'r', attempt: 2, log }), 2)
    await expect(by(late, 1)).rejects.toMatchObject({ code: 'TOOL_CALL_FENCED', effect: 'none' })
    await expect(late.settle()).rejects.toMatchObject({ code: 'TOOL_CALL_FENCED' })
    expect(charged).toEqual([2])
  })

  test('charges with a log that does not tell attempts apart', async () => {
    const log = create()
    const careless: ToolCallLog = { ...log, capabilities: { ...log.capabilities, attempts: false } }
    const { charged, by } = charging()
    const late = createToolRun({ runId: 'r', log: careless })
    await by(late, 1)
    await by(createToolRun({ runId: 'r', attempt: 2, log: careless }), 2)
    await by(late, 3)
    expect(charged).toEqual([1, 2, 3])
  })

  test('goes on when the attempt has the same number, as after an approval', async () => {
    const log = create()
    const { charged, by } = charging()
    await by(createToolRun({ runId: 'r', attempt: 2, log }), 1)
    await by(createToolRun({ runId: 'r', attempt: 2, log, lineage: 'continued' }), 2)
    expect(charged).toEqual([1, 2])
  })
})

test('an attempt is begun once, not by each call, and before earlier calls are read', async () => {
  const memory = createMemoryLog()
  const asked: string[] = []
  const log: ToolCallLog = {
    ...memory,
    beginAttempt(attempt) {
      asked.push('begin')
      return memory.beginAttempt(attempt)
    },
    list(query) {
      asked.push('list')
      return memory.list(query)
    },
  }
  const { by } = charging()
  const run = createToolRun({ runId: 'r', attempt: 2, log })
  for (const cents of [1, 2, 3]) await by(run, cents)
  expect(asked.slice(0, 2)).toEqual(['begin', 'list'])
  expect(asked.filter((method) => method === 'begin')).toHaveLength(1)
})

describe('a call whose log does not answer for a whole lease', () => {
  test('is ended while its renewals wait', async () => {
    const memory = createMemoryLog()
    const log: ToolCallLog = { ...memory, renew: () => new Promise(() => {}) }
    const aborted = deferred<unknown>()
    const wait = defineTool({
      name: 'wait',
      schema: z.object({}),
      sideEffect: true,
      acceptsContext: true,
      execute: (_args, { abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => {
            aborted.resolve(abortSignal.reason)
            reject(abortSignal.reason)
          })
        }),
    })
    const run = createToolRun({ runId: 'r', log, leaseMs: 60 })
    const call = run.tools({ wait }).wait.execute({}, callOptions())
    await expect(call).rejects.toThrow('taken over by another worker')
    expect(await aborted.promise).toMatchObject({ code: 'TOOL_CALL_FENCED', effect: 'unknown' })
    expect(memory.snapshot()).toMatchObject([{ status: 'error', effect: 'unknown' }])
  })

  test('does not begin when its start was stored too late and another worker has ended its row', async () => {
    const memory = createMemoryLog()
    const { promise: healed, resolve: heal } = Promise.withResolvers<void>()
    const log: ToolCallLog = {
      ...memory,
      async start(row, options) {
        const result = memory.start(row, options)
        await healed
        return result
      },
    }
    const { charged, by } = charging()
    const run = createToolRun({ runId: 'r', log, leaseMs: 20 })
    const call = by(run, 1)
    const refused = call.catch((error: unknown) => error)
    await expect.poll(() => memory.snapshot().length, { interval: 1 }).toBe(1)
    const [row] = memory.snapshot()
    const leaseEndsAt = row?.leaseExpiresAtMs ?? 0
    await expect.poll(() => Date.now() > leaseEndsAt + 20, { interval: 5 }).toBe(true)
    // As the worker does that finds the lease ended.
    const recovered = { outputJson: null, errorJson: null, effect: 'unknown' } as const
    memory.finish(row?.callToken ?? '', { ...recovered, status: 'error', finishedAtMs: Date.now() })
    heal()
    expect(await refused).toMatchObject({ code: 'TOOL_CALL_FENCED', effect: 'none' })
    expect(charged).toEqual([])
  })

  test('begins after all when its row is still its own', async () => {
    const memory = createMemoryLog()
    const { promise: healed, resolve: heal } = Promise.withResolvers<void>()
    const log: ToolCallLog = {
      ...memory,
      async start(row, options) {
        await healed
        return memory.start(row, options)
      },
    }
    const { charged, by } = charging()
    const before = Date.now()
    const call = by(createToolRun({ runId: 'r', log, leaseMs: 20 }), 1)
    await expect.poll(() => Date.now() > before + 40, { interval: 5 }).toBe(true)
    heal()
    expect(await call).toBe('charged 1')
    expect(charged).toEqual([1])
  })
})
