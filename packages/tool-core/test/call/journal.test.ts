import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  SmithersError,
  type ToolCallLog,
  type ToolRun,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions, createChargeTool } from '../fixtures/charge-tool.ts'
import { collect } from '../fixtures/collect.ts'
import { deferred } from '../fixtures/deferred.ts'
import { createLateLog } from '../fixtures/late-log.ts'
import { StripeLikeProvider } from '../fixtures/provider.ts'

const empty = z.object({})

/** A memory log in which some methods are replaced. */
function logWith(replaced: (log: ToolCallLog) => Partial<ToolCallLog>): ToolCallLog {
  const log = createMemoryLog()
  return { ...log, ...replaced(log) }
}

describe('the journal of a call', () => {
  test('holds the start row before execute begins, in the same turn with a synchronous log', () => {
    const log = createMemoryLog()
    const statuses: string[] = []
    const peek = defineTool({
      name: 'peek',
      schema: empty,
      execute: () => {
        statuses.push(...log.snapshot().map(({ status }) => status))
        return 'ok'
      },
    })
    void createToolRun({ log }).tools({ peek }).peek.execute({}, callOptions())
    expect(statuses).toEqual(['started'])
  })

  test('keeps no long name of invalid input: it may be a document', async () => {
    const log = createMemoryLog()
    const guarded = defineTool({
      name: 'guarded',
      schema: z.strictObject({ text: z.string() }),
      logInput: () => 'hidden',
      execute: () => 'ok',
    })
    const { guarded: bound } = createToolRun({ log }).tools({ guarded })
    const input = { text: 5, short: 'x', ['n'.repeat(64) + 'CONFIDENTIAL']: 'x' }
    const call = (async () => bound.execute(input as never, callOptions()))()
    await expect(call).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const [row] = log.snapshot()
    expect(row?.inputJson).toContain('short')
    expect(JSON.stringify(row)).not.toContain('CONFIDENTIAL')
  })

  test('gives parallel calls distinct seqs, equal to their rows and in the order of the calls', async () => {
    for (const log of [createMemoryLog(), createLateLog()]) {
      const seqTool = defineTool({
        name: 'seq',
        schema: z.object({ n: z.number() }),
        execute: async ({ n }, { seq }) => ({ n, seq }),
      })
      const { tools, context } = createToolRun({ runId: 'r', log })
      const { seqTool: bound } = tools({ seqTool })
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => bound.execute({ n }, callOptions())),
      )
      expect(results).toEqual(results.map(({ n }) => ({ n, seq: n + 1 })))
      const rows = await log.list({ runId: context.runId })
      expect(
        rows.map(({ seq, inputJson }) => ({ seq, n: JSON.parse(inputJson ?? '').n as number })),
      ).toEqual(results.map(({ n, seq }) => ({ seq, n })))
    }
  })

  test('moves behind the rows of another worker that writes to the same attempt', async () => {
    const log = createMemoryLog()
    const read = defineTool({ name: 'read', schema: empty, execute: (_a, { seq }) => seq })
    const [a, b] = [1, 2].map(() => createToolRun({ runId: 'r', log }).tools({ read }).read)
    const seqs = [
      await a?.execute({}, callOptions()),
      await b?.execute({}, callOptions()),
      await a?.execute({}, callOptions()),
    ]
    expect(new Set(seqs).size).toBe(3)
    expect(new Set(log.snapshot().map(({ seq }) => seq))).toEqual(new Set(seqs))
  })

  test('leaves one row for every outcome, and an effect only where a tool ran', async () => {
    const log = createMemoryLog()
    const provider = new StripeLikeProvider()
    const aborted = AbortSignal.abort(new Error('gone'))
    const run = createToolRun({ runId: 'r', log })
    const { charge, fail } = run.tools({
      charge: createChargeTool(provider),
      fail: defineTool({
        name: 'fail',
        schema: empty,
        sideEffect: true,
        execute: async (_args, _ctx) => {
          throw new SmithersError('TOOL_COMMAND_FAILED', 'declined', { effect: 'none' })
        },
      }),
    })
    const ann = { customer: 'ann', amount: 1 }
    await charge.execute(ann, callOptions())
    await charge.execute({} as never, callOptions()).catch(() => {})
    await charge.execute(ann, { ...callOptions(), abortSignal: aborted }).catch(() => {})
    await fail.execute({}, callOptions()).catch(() => {})
    expect(
      log
        .snapshot()
        .map(({ status, effect, errorJson }) => [
          status,
          effect,
          errorJson === null ? null : (JSON.parse(errorJson).code as string),
        ]),
    ).toEqual([
      ['success', 'applied', null],
      ['error', 'none', 'INVALID_INPUT'],
      ['error', 'none', 'TOOL_ABORTED'],
      ['error', 'none', 'TOOL_COMMAND_FAILED'],
    ])
    expect(provider.charges).toEqual([ann])
  })

  test('asks for fsync at the start of calls that must not run twice, and for no others', async () => {
    const asked: string[] = []
    const log = logWith((memory) => ({
      start: (row, options) => {
        asked.push(`${row.toolName} ${options.durability} ${options.claim}`)
        return memory.start(row, options)
      },
    }))
    const tools = createToolRun({ log }).tools({
      read: defineTool({ name: 'read', schema: empty, execute: () => 1 }),
      upsert: defineTool({
        name: 'upsert',
        schema: empty,
        sideEffect: true,
        idempotent: true,
        execute: () => 1,
      }),
      charge: createChargeTool(new StripeLikeProvider()),
      once: createChargeTool(new StripeLikeProvider(), 'reuse'),
    })
    await tools.read.execute({}, callOptions())
    await tools.upsert.execute({}, callOptions())
    await tools.charge.execute({ customer: 'a', amount: 1 }, callOptions())
    await tools.once.execute({ customer: 'b', amount: 1 }, callOptions())
    expect(asked).toEqual([
      'read relaxed null',
      'upsert relaxed inflight',
      'charge fsync inflight',
      'charge fsync once',
    ])
  })
})

describe('a retry', () => {
  test('records the calls of a worker that is gone as unknown, and says so to the agent', async () => {
    const log = createMemoryLog()
    const release = deferred()
    const wait = defineTool({
      name: 'wait',
      schema: empty,
      sideEffect: true,
      execute: (_args, _ctx) => release.promise,
    })
    const first = createToolRun({ runId: 'r', log })
    const lost = first.tools({ wait }).wait.execute({}, callOptions())
    // As if the worker had not renewed its lease for too long.
    log.renew(log.snapshot()[0]?.callToken ?? '', Date.now() - 1)
    const warning = createToolRun({ runId: 'r', log, attempt: 2 }).retryWarning()
    expect(log.snapshot()).toMatchObject([
      { status: 'error', effect: 'unknown', errorJson: expect.stringContaining('OUTCOME_UNKNOWN') },
    ])
    expect(warning).toContain('- wait {} · ')
    expect(warning).toContain('UNKNOWN: it may have happened')
    release.resolve()
    await expect(lost).rejects.toMatchObject({ code: 'TOOL_CALL_FENCED' })
  })
})

describe('a log that fails at the start', () => {
  const failing = logWith(() => ({
    start: () => {
      throw new Error('disk full')
    },
  }))

  test('keeps a call that must not run twice from running, and stops the run', async () => {
    const provider = new StripeLikeProvider()
    const run = createToolRun({ log: failing })
    const { charge } = run.tools({ charge: createChargeTool(provider) })
    await expect(charge.execute({ customer: 'a', amount: 1 }, callOptions())).rejects.toMatchObject(
      {
        code: 'TOOL_LOG_UNAVAILABLE',
        effect: 'none',
      },
    )
    expect(provider.charges).toEqual([])
    expect(run.abortSignal.aborted).toBe(true)
    await expect(run.settle('done')).rejects.toMatchObject({ code: 'TOOL_LOG_UNAVAILABLE' })
  })

  test('lets a read run, and reports the failure', async () => {
    const onLogError = vi.fn<(error: unknown) => void>()
    const run = createToolRun({ log: failing, onLogError })
    const read = defineTool({ name: 'read', schema: empty, execute: () => 'text' })
    expect(await run.tools({ read }).read.execute({}, callOptions())).toBe('text')
    expect(onLogError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: 'disk full' }),
    )
    expect(await run.settle('done')).toBe('done')
  })

  test('keeps such a call from running when the earlier calls cannot be read', async () => {
    const provider = new StripeLikeProvider()
    const log = logWith(() => ({ list: () => Promise.reject(new Error('no connection')) }))
    const run = createToolRun({ runId: 'r', log })
    const { charge } = run.tools({ charge: createChargeTool(provider) })
    await expect(charge.execute({ customer: 'a', amount: 1 }, callOptions())).rejects.toMatchObject(
      {
        code: 'TOOL_LOG_UNAVAILABLE',
      },
    )
    expect(provider.charges).toEqual([])
  })
})

describe('a log that fails at the end', () => {
  test('is tried again, and the call succeeds', async () => {
    let failures = 2
    const rows: string[] = []
    const log = logWith((memory) => ({
      finish: (token, patch) => {
        failures -= 1
        if (failures >= 0) throw new Error('busy')
        rows.push(patch.status)
        return memory.finish(token, patch)
      },
    }))
    const run = createToolRun({ log })
    const { charge } = run.tools({ charge: createChargeTool(new StripeLikeProvider()) })
    expect(await charge.execute({ customer: 'a', amount: 1 }, callOptions())).toBe('ch_1')
    expect(rows).toEqual(['success'])
    expect(run.fatal).toBeUndefined()
  })

  test('never tells the model that the call failed, but stops the run', async () => {
    const log = logWith(() => ({
      finish: () => {
        throw new Error('disk full')
      },
    }))
    const run = createToolRun({ log })
    const { charge } = run.tools({ charge: createChargeTool(new StripeLikeProvider()) })
    expect(await charge.execute({ customer: 'a', amount: 1 }, callOptions())).toBe('ch_1')
    await expect(run.settle()).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      effect: 'applied',
    })
    await expect(charge.execute({ customer: 'b', amount: 1 }, callOptions())).rejects.toMatchObject(
      {
        code: 'TOOL_ABORTED',
      },
    )
  })
})

describe('timeoutMs', () => {
  test('aborts the signal, fails the call, and fences what comes later', async () => {
    const log = createMemoryLog()
    const late = deferred<string>()
    let reason: unknown
    const slow = defineTool({
      name: 'slow',
      schema: empty,
      sideEffect: true,
      timeoutMs: 10,
      execute: (_args, { abortSignal }) => {
        abortSignal.addEventListener('abort', () => {
          reason = abortSignal.reason
        })
        return late.promise
      },
    })
    const call = createToolRun({ log }).tools({ slow }).slow.execute({}, callOptions())
    await expect(call).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
    expect(reason).toMatchObject({ code: 'TOOL_TIMEOUT' })
    const finished = log.snapshot()
    late.resolve('too late')
    await late.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect(log.snapshot()).toEqual(finished)
    expect(finished).toMatchObject([{ status: 'error', effect: 'unknown', outputJson: null }])
  })

  test('holds for a stream as a whole', async () => {
    const endless = defineTool({
      name: 'endless',
      schema: empty,
      timeoutMs: 20,
      async *execute() {
        for (;;) {
          yield 'tick'
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      },
    })
    await expect(collect(endless.execute({}, callOptions()))).rejects.toMatchObject({
      code: 'TOOL_TIMEOUT',
    })
  })
})

describe('leases', () => {
  test('are renewed while a call runs', async () => {
    const renewed = deferred<number>()
    const log = logWith((memory) => ({
      renew: (token, expires) => {
        renewed.resolve(expires)
        return memory.renew(token, expires)
      },
    }))
    const wait = defineTool({ name: 'wait', schema: empty, execute: () => renewed.promise })
    const startedAt = Date.now()
    const run = createToolRun({ log, leaseMs: 30 })
    expect(await run.tools({ wait }).wait.execute({}, callOptions())).toBeGreaterThan(startedAt)
  })

  test('that were lost abort the call, whose finish is then fenced', async () => {
    const memory = createMemoryLog()
    const log = { ...memory, renew: () => false }
    const provider = new StripeLikeProvider()
    const charge = defineTool({
      name: 'charge',
      schema: empty,
      sideEffect: true,
      execute: async (_args, ctx) => {
        await new Promise((resolve) => ctx.abortSignal.addEventListener('abort', resolve))
        // As the worker that took the call over would have done.
        const [row] = memory.snapshot()
        memory.finish(row?.callToken ?? '', {
          status: 'error',
          outputJson: null,
          errorJson: null,
          effect: 'unknown',
          finishedAtMs: 1,
        })
        return provider.charge({ customer: 'a', amount: 1 }, ctx.idempotencyKey)
      },
    })
    const run = createToolRun({ log, leaseMs: 30 })
    await expect(run.tools({ charge }).charge.execute({}, callOptions())).rejects.toMatchObject({
      code: 'TOOL_CALL_FENCED',
    })
    await expect(run.settle()).rejects.toMatchObject({ code: 'TOOL_CALL_FENCED' })
    expect(memory.snapshot()).toMatchObject([{ status: 'error', finishedAtMs: 1 }])
  })
})

describe('waiting for the holder of a key', () => {
  test('ends although the clock is set back all the time', async () => {
    const log = createMemoryLog()
    const hold = defineTool({
      name: 'hold',
      schema: empty,
      sideEffect: true,
      acceptsContext: true,
      execute: () => new Promise(() => {}),
    })
    const attempt = (): ToolRun => createToolRun({ runId: 'r', log, timeoutMs: 20 })
    const [first, second] = [attempt(), attempt()]
    void first.tools({ hold }).hold.execute({}, callOptions())
    let now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => (now -= 1000))
    const waiting = second.tools({ hold }).hold.execute({}, callOptions())
    await expect(waiting).rejects.toMatchObject({ code: 'TOOL_CALL_IN_PROGRESS' })
    vi.restoreAllMocks()
  })
})

describe('durabilitySnapshot', () => {
  test('runs after every tool with a side effect that ran, with its name and the id of the call', async () => {
    const durabilitySnapshot = vi.fn<(name: string, id: string) => void>()
    const { tools } = createToolRun({ durabilitySnapshot })
    const { ok, fail, read } = tools({
      ok: defineTool({ name: 'shop.ok', schema: empty, sideEffect: true, execute: (_a, _c) => 1 }),
      fail: defineTool({
        name: 'fail',
        schema: empty,
        sideEffect: true,
        execute: (_a, _c) => Promise.reject(new Error('no')),
      }),
      read: defineTool({ name: 'read', schema: empty, execute: () => 1 }),
    })
    await ok.execute({}, { toolCallId: 'call-ok', messages: [] })
    await fail.execute({}, { toolCallId: 'call-fail', messages: [] }).catch(() => {})
    await ok.execute(1 as never, { toolCallId: 'call-invalid', messages: [] }).catch(() => {})
    await read.execute({}, { toolCallId: 'call-read', messages: [] })
    expect(durabilitySnapshot.mock.calls).toEqual([
      ['shop.ok', 'call-ok'],
      ['fail', 'call-fail'],
    ])
  })

  test('that fails, at once or later, does not fail the tool', async () => {
    const ok = defineTool({ name: 'ok', schema: empty, sideEffect: true, execute: (_a, _c) => 1 })
    for (const durabilitySnapshot of [
      () => Promise.reject(new Error('no disk')),
      () => {
        throw new Error('no disk')
      },
    ]) {
      const { tools } = createToolRun({ durabilitySnapshot })
      expect(await tools({ ok }).ok.execute({}, callOptions())).toBe(1)
    }
  })
})
