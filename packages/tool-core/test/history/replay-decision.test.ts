import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  type OnRetry,
  type PriorCall,
  type RunSafety,
  SmithersError,
  type ToolRunOptions,
  type Verification,
} from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions, createChargeTool } from '../fixtures/charge-tool.ts'
import { deferred } from '../fixtures/deferred.ts'
import { StripeLikeProvider } from '../fixtures/provider.ts'

const ann = { customer: 'ann', amount: 100 }

/** A provider that knows no keys, and a tool that may fail after it has charged. */
function createCharge(settings: {
  readonly onRetry?: OnRetry | undefined
  readonly verify?: (args: unknown, prior: PriorCall) => Verification<string>
  readonly fails?: Error
}) {
  const charged: string[] = []
  const fails = [settings.fails]
  const charge = defineTool({
    name: 'charge',
    schema: z.object({ customer: z.string(), amount: z.number() }),
    sideEffect: true,
    ...(settings.onRetry && { onRetry: settings.onRetry }),
    ...(settings.verify && { verify: settings.verify }),
    execute: async ({ customer }, { idempotencyKey }) => {
      charged.push(idempotencyKey)
      const failure = fails.shift()
      if (failure !== undefined) throw failure
      return `charged ${customer} ${charged.length}`
    },
  })
  const attempt = async (
    log: MemoryLog,
    number: number,
    args = ann,
    options: ToolRunOptions = {},
  ): Promise<string> => {
    const run = createToolRun({ runId: 'r', log, attempt: number, ...options })
    return run.tools({ charge }).charge.execute(args, callOptions())
  }
  return { charged, charge, attempt }
}

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

describe('verify', () => {
  test('answers in place of a call that did happen', async () => {
    const log = createMemoryLog()
    const verify = vi.fn<() => Verification<string>>(() => ({
      happened: true,
      output: 'found ch_1',
    }))
    const { charged, attempt } = createCharge({ verify, fails: new Error('reset') })
    await attempt(log, 1).catch(() => {})
    expect(await attempt(log, 2)).toBe('found ch_1')
    expect(charged).toHaveLength(1)
    expect(verify.mock.calls[0]).toMatchObject([
      ann,
      {
        outcome: 'unknown',
        attempt: 1,
        inputJson: JSON.stringify(ann),
        idempotencyKey: charged[0],
      },
      { attempt: 2, idempotencyKey: charged[0] },
    ])
    const [first, second] = log.snapshot()
    expect(second).toMatchObject({ status: 'success', effect: 'none', replayOf: first?.callToken })
  })

  test('lets a call run that did not happen', async () => {
    const log = createMemoryLog()
    const { attempt } = createCharge({
      onRetry: 'block',
      verify: () => ({ happened: false }),
      fails: new Error('reset'),
    })
    await attempt(log, 1).catch(() => {})
    expect(await attempt(log, 2)).toBe('charged ann 2')
  })

  test.each([
    ['warn', 'charged ann 2'],
    ['block', 'TOOL_CALL_BLOCKED'],
  ] as const)('that cannot tell leaves it to %s', async (onRetry, expected) => {
    const log = createMemoryLog()
    const { attempt } = createCharge({
      onRetry,
      verify: () => ({ happened: 'unknown' }),
      fails: new Error('reset'),
    })
    await attempt(log, 1).catch(() => {})
    const answer = await attempt(log, 2).catch((error: SmithersError) => error.code)
    expect(answer).toBe(expected)
  })

  test('that fails keeps the call from running', async () => {
    const log = createMemoryLog()
    const { charged, attempt } = createCharge({
      verify: () => {
        throw new Error('provider is down')
      },
      fails: new Error('reset'),
    })
    await attempt(log, 1).catch(() => {})
    await expect(attempt(log, 2)).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' })
    expect(charged).toHaveLength(1)
  })

  test('is not asked about a first call, nor about a known success', async () => {
    const log = createMemoryLog()
    const verify = vi.fn<() => Verification<string>>(() => ({ happened: false }))
    const { attempt } = createCharge({ onRetry: 'reuse', verify })
    await attempt(log, 1)
    expect(await attempt(log, 2)).toBe('charged ann 1')
    expect(verify).not.toHaveBeenCalled()
  })
})

describe('the drift guard', () => {
  const first = { to: 'ann', text: 'Your order is on its way.' }
  const reworded = { to: 'ann', text: 'Your order has been sent.' }

  async function twice(tool: ReturnType<typeof mail>, calls = [reworded]): Promise<unknown[]> {
    const log = createMemoryLog()
    const one = createToolRun({ runId: 'r', log }).tools({ tool }).tool
    await one.execute(first, callOptions())
    const two = createToolRun({ runId: 'r', log, attempt: 2 }).tools({ tool }).tool
    const answers: unknown[] = []
    for (const call of calls) {
      answers.push(await two.execute(call, callOptions()).catch((error: unknown) => error))
    }
    return answers
  }

  test('blocks a reworded call and shows both sets of arguments', async () => {
    const [answer] = await twice(mail('block'))
    expect(answer).toMatchObject({ code: 'TOOL_CALL_BLOCKED' })
    expect((answer as Error).message).toContain(first.text)
    expect((answer as Error).message).toContain(reworded.text)
  })

  test('asks verify about the call that a new one may repeat', async () => {
    const verify = vi.fn<() => Verification<string>>(() => ({
      happened: true,
      output: 'sent before',
    }))
    expect(await twice(mail('warn', { verify }))).toEqual(['sent before'])
    expect(verify).toHaveBeenCalledExactlyOnceWith(
      reworded,
      expect.objectContaining({ inputJson: JSON.stringify(first) }),
      expect.anything(),
    )
  })

  test('lets it run under warn', async () => {
    expect(await twice(mail('warn'))).toEqual([reworded.text])
  })

  test('lets another call run once the earlier one was repeated', async () => {
    const [repeated, other] = await twice(mail('block'), [first, reworded])
    expect(repeated).toMatchObject({ code: 'TOOL_CALL_BLOCKED' })
    expect(other).toBe(reworded.text)
  })

  test('trusts a key of the tool, which names the intent', async () => {
    expect(await twice(mail('block', { key: textOf }))).toEqual([reworded.text])
  })
})

describe('two workers with the same call', () => {
  test.each(['warn', 'reuse', 'block'] as const)(
    'run it once under %s: the loser gets the output of the winner',
    async (onRetry) => {
      const log = createMemoryLog()
      const entered = deferred()
      const release = deferred()
      let runs = 0
      const execute = async (_args: unknown, _ctx: unknown): Promise<string> => {
        entered.resolve()
        await release.promise
        runs += 1
        return `ran ${runs}`
      }
      const slow = defineTool({
        name: 'slow',
        schema: z.object({}),
        sideEffect: true,
        onRetry,
        execute,
      })
      const [a, b] = [1, 2].map(() => createToolRun({ runId: 'r', log }).tools({ slow }).slow)
      const winner = a?.execute({}, callOptions())
      await entered.promise
      const loser = b?.execute({}, callOptions())
      release.resolve()
      expect(await Promise.all([winner, loser])).toEqual(['ran 1', 'ran 1'])
    },
  )

  test('tell the loser that the call is in progress when it takes too long', async () => {
    const log = createMemoryLog()
    const release = deferred()
    const slow = defineTool({
      name: 'slow',
      schema: z.object({}),
      sideEffect: true,
      execute: (_args, _ctx) => release.promise,
    })
    const [a, b] = [1, 2].map(() => createToolRun({ runId: 'r', log, timeoutMs: 20 }))
    const winner = a?.tools({ slow }).slow.execute({}, callOptions())
    await expect(b?.tools({ slow }).slow.execute({}, callOptions())).rejects.toMatchObject({
      code: 'TOOL_CALL_IN_PROGRESS',
      effect: 'none',
    })
    release.resolve()
    await winner
  })

  test('take a call over at once when its process is dead, whatever its lease says', async () => {
    const log = createMemoryLog()
    const provider = new StripeLikeProvider()
    const charge = createChargeTool(provider)
    await createToolRun({ runId: 'r', log }).tools({ charge }).charge.execute(ann, callOptions())
    const [row] = log.snapshot()
    if (row === undefined) throw new Error('no row')
    const crashed = createMemoryLog()
    const [host] = /^.*(?=:\d+:\d+$)/.exec(row.ownerId ?? '') ?? []
    crashed.start(
      { ...row, ownerId: `${host}:4194304:1`, leaseExpiresAtMs: Date.now() + 3_600_000 },
      { durability: 'relaxed', claim: 'inflight' },
    )
    const run = createToolRun({ runId: 'r', log: crashed, attempt: 2 })
    // The provider has kept the key, so the same charge is not made twice.
    expect(await run.tools({ charge }).charge.execute(ann, callOptions())).toBe('ch_1')
    expect(provider.charges).toEqual([ann])
    expect(crashed.snapshot()).toMatchObject([
      { status: 'error', effect: 'unknown' },
      { status: 'success', attempt: 2 },
    ])
  })
})

function mail(onRetry: OnRetry, more: object = {}) {
  return defineTool({
    name: 'mail',
    schema: z.object({ to: z.string(), text: z.string() }),
    sideEffect: true,
    onRetry,
    execute: ({ text }, _ctx) => text,
    ...more,
  })
}

function textOf({ text }: { readonly text: string }): string {
  return text
}

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
