import { createToolRun, defineTool, SmithersError } from '@smithers/tool-core'
import { heldHere } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callOptions, createChargeTool } from '../fixtures/charge-tool.ts'
import { deferred } from '../fixtures/deferred.ts'
import { createLateLog } from '../fixtures/late-log.ts'
import { logWith } from '../fixtures/log-with.ts'
import { StripeLikeProvider } from '../fixtures/provider.ts'

const empty = z.object({})

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
    // As if the worker were on another host and had not renewed its lease for too long.
    const callToken = log.snapshot()[0]?.callToken ?? ''
    heldHere.delete(callToken)
    log.renew(callToken, Date.now() - 1)
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
