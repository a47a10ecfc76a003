import {
  createToolRun,
  defineTool,
  type OnRetry,
  type RunSafety,
  SmithersError,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { ann, createCharge } from '../fixtures/charge-attempts.ts'
import { callOptions } from '../fixtures/charge-tool.ts'

describe('a repeated call of an attempt that succeeded', () => {
  test('runs again when it waited for one that came to an unknown end, and is not answered for the success', async () => {
    const { charged, attempt } = createCharge({})
    const log = createMemoryLog()
    expect(await attempt(log, 1)).toBe('charged ann 1')
    const [first] = log.snapshot()
    const held = { ...first!, callToken: 'held', attempt: 2, leaseExpiresAtMs: Date.now() + 60_000 }
    log.start(held, { durability: 'fsync', claim: 'inflight' })
    const waiting = attempt(log, 3)
    log.finish('held', {
      status: 'error',
      outputJson: null,
      errorJson: null,
      effect: 'unknown',
      finishedAtMs: Date.now(),
    })
    expect(await waiting).toBe('charged ann 2')
    expect(charged).toEqual([first?.idempotencyKey, first?.idempotencyKey])
  })

  test.each([
    [undefined, undefined],
    ['rerun', undefined],
    ['warn', 'strict'],
  ] as const)(
    'with onRetry %s and safety %s runs again with the same key',
    async (onRetry, safety) => {
      const { first, charged, answer } = await inTwoAttempts(onRetry, safety)
      expect(answer).toBe('charged ann 2')
      expect(charged).toEqual([first.idempotencyKey, first.idempotencyKey])
    },
  )

  test.each([
    ['reuse', undefined],
    [undefined, 'reuse'],
  ] as const)(
    'with onRetry %s and safety %s returns the recorded output',
    async (onRetry, safety) => {
      const { first, second, charged, answer } = await inTwoAttempts(onRetry, safety)
      expect(answer).toBe('charged ann 1')
      expect(charged).toHaveLength(1)
      expect(second).toMatchObject({
        status: 'success',
        effect: 'none',
        replayOf: first.callToken,
      })
    },
  )

  test.each([
    ['block', undefined],
    [undefined, 'strict'],
  ] as const)(
    'with onRetry %s and safety %s is refused, with what happened',
    async (onRetry, safety) => {
      const { first, second, charged, answer } = await inTwoAttempts(onRetry, safety)
      expect(answer).toMatchObject({ code: 'TOOL_CALL_BLOCKED' })
      expect((answer as Error).message).toMatch(/^\[smithers:tool-resume-warning\]/)
      expect((answer as Error).message).toContain('charged ann 1')
      expect((answer as Error).message).toContain(first.idempotencyKey)
      expect(charged).toHaveLength(1)
      expect(second).toMatchObject({ status: 'error', effect: 'none' })
    },
  )

  test('is run again once its key is allowed', async () => {
    const log = createMemoryLog()
    const { charged, charge, attempt } = createCharge({ onRetry: 'block' })
    await attempt(log, 1)
    const run = createToolRun({ runId: 'r', log, attempt: 2 })
    run.allow(charged[0] ?? '')
    expect(await run.tools({ charge }).charge.execute(ann, callOptions())).toBe('charged ann 2')
  })

  test('reads a recorded output back as what it was', async () => {
    const output = {
      at: new Date(0),
      total: 10n ** 20n,
      ratio: Infinity,
      tags: new Map([['a', new Set([1])]]),
      nothing: [undefined],
      shape: { $date: 'a property of that name' },
    }
    const measure = defineTool({
      name: 'measure',
      schema: z.object({}),
      sideEffect: true,
      onRetry: 'reuse',
      execute: (_args, { attempt }) => (attempt === 1 ? output : 'ran again'),
    })
    const log = createMemoryLog()
    for (const attempt of [1, 2]) {
      const { tools } = createToolRun({ runId: 'r', log, attempt })
      expect(await tools({ measure }).measure.execute({}, callOptions())).toEqual(output)
    }
  })

  test.each([
    ['cut', { maxOutputBytes: 200 }, 'x'.repeat(500), {}],
    ['hidden', {}, { token: 'abc' }, {}],
    ['described', {}, { run: () => 1 }, {}],
    ['mapped', {}, 'abc', { logOutput: () => 'abc' }],
  ])(
    'runs it again, and says so, when the recorded output was %s',
    async (_how, options, output, more) => {
      const execute = vi.fn<(args: unknown, ctx: unknown) => unknown>(() => output)
      const warn = vi.fn<(message: string) => void>()
      const make = defineTool({
        name: 'make',
        schema: z.object({}),
        sideEffect: true,
        onRetry: 'reuse',
        warn,
        execute,
        ...more,
      })
      const log = createMemoryLog()
      for (const attempt of [1, 2]) {
        const { tools } = createToolRun({ runId: 'r', log, attempt, ...options })
        expect(await tools({ make }).make.execute({}, callOptions())).toBe(output)
      }
      expect(execute).toHaveBeenCalledTimes(2)
      expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('not recorded whole'))
    },
  )
})

describe('a repeated call of an attempt that failed', () => {
  const declined = new SmithersError('TOOL_COMMAND_FAILED', 'declined', { effect: 'none' })

  test.each(['rerun', 'warn', 'reuse', 'block'] as const)(
    'runs with the same key under %s when the tool said that nothing was applied',
    async (onRetry) => {
      const log = createMemoryLog()
      const { charged, attempt } = createCharge({ onRetry, fails: declined })
      await expect(attempt(log, 1)).rejects.toBe(declined)
      expect(await attempt(log, 2)).toBe('charged ann 2')
      expect(new Set(charged).size).toBe(1)
    },
  )

  test('is blocked under block when it may have been applied', async () => {
    const log = createMemoryLog()
    const { charged, attempt } = createCharge({ onRetry: 'block', fails: new Error('reset') })
    await expect(attempt(log, 1)).rejects.toThrow('reset')
    await expect(attempt(log, 2)).rejects.toMatchObject({
      code: 'TOOL_CALL_BLOCKED',
      details: { priorOutcome: 'unknown' },
    })
    expect(charged).toHaveLength(1)
  })

  test('repeats its key within one attempt too, since the model is only trying again', async () => {
    const log = createMemoryLog()
    const { charged, charge } = createCharge({ fails: new Error('timed out') })
    const bound = createToolRun({ runId: 'r', log }).tools({ charge }).charge
    await bound.execute(ann, callOptions()).catch(() => {})
    await bound.execute(ann, callOptions())
    await bound.execute(ann, callOptions())
    expect(charged[1]).toBe(charged[0])
    expect(charged[2]).not.toBe(charged[0])
  })
})

/** Makes the same call in two attempts; returns its rows, its keys at the provider and the second answer. */
async function inTwoAttempts(onRetry: OnRetry | undefined, safety: RunSafety | undefined) {
  const log = createMemoryLog()
  const { charged, attempt } = createCharge({ onRetry })
  await attempt(log, 1)
  const answer = await attempt(log, 2, ann, { safety }).catch((error: unknown) => error)
  const [first, second] = log.snapshot()
  if (first === undefined || second === undefined) throw new Error('a row is missing')
  expect(second.idempotencyKey).toBe(first.idempotencyKey)
  return { first, second, charged, answer }
}
