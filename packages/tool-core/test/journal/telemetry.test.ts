import {
  beginCallPart,
  type CallTelemetry,
  createToolRun,
  defineTool,
  type FinishedCall,
  registerToolTelemetry,
  type ToolTelemetry,
  traceWork,
} from '@smithers/tool-core'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'

const charge = defineTool({
  name: 'charge',
  schema: z.object({ amount: z.number() }),
  sideEffect: true,
  idempotent: false,
  execute: async ({ amount }, ctx) => {
    const part = beginCallPart(ctx, 'bank')
    part.end()
    return `charged ${amount} ${Object.keys(part.traceContext).join()}`
  },
})

function fail(): never {
  throw new Error('The collector is away.')
}

const throwing: CallTelemetry = {
  get traceId(): never {
    return fail()
  },
  get spanId(): never {
    return fail()
  },
  run: fail,
  event: fail,
  beginPart: fail,
  end: fail,
}

describe('telemetry that fails', () => {
  const cases: [string, ToolTelemetry][] = [
    ['at the begin', { beginCall: fail }],
    ['in every method of a call', { beginCall: () => throwing }],
    [
      'after it ran the call',
      {
        beginCall: () => ({
          ...quiet(() => {}),
          run: <Result>(fn: () => Result): Result => {
            fn()
            return fail()
          },
        }),
      },
    ],
    [
      'to run the call',
      { beginCall: () => ({ ...quiet(() => {}), run: () => undefined as never }) },
    ],
    [
      'by running the call twice',
      {
        beginCall: () => ({
          ...quiet(() => {}),
          run: <Result>(fn: () => Result): Result => {
            fn()
            return fn()
          },
        }),
      },
    ],
  ]

  test.each(cases)('%s changes no call, and is reported at most once', async (_name, telemetry) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const run = createToolRun({ runId: 'r', telemetry })
    const tools = run.tools({ charge })
    expect(await tools.charge.execute({ amount: 1 }, callOptions())).toBe('charged 1 ')
    expect(await tools.charge.execute({ amount: 2 }, callOptions())).toBe('charged 2 ')
    const rows = await run.context.log.list({ runId: 'r' })
    expect(rows.map(({ status, seq, traceId }) => [status, seq, traceId])).toEqual([
      ['success', 1, null],
      ['success', 2, null],
    ])
    expect(warn.mock.calls.length).toBeLessThanOrEqual(1)
    warn.mockRestore()
  })

  test('does not hide what a tool throws', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const broken = defineTool({
      name: 'broken',
      schema: z.object({}),
      execute: async () => {
        throw new RangeError('too far')
      },
    })
    const run = createToolRun({ telemetry: { beginCall: () => throwing } })
    await expect(run.tools({ broken }).broken.execute({}, callOptions())).rejects.toThrow('too far')
    expect(warn).toHaveBeenCalledOnce()
    warn.mockRestore()
  })

  test('does not change the result of a workflow', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const telemetry: ToolTelemetry = {
      beginCall: () => undefined,
      beginWork: () => ({ run: fail, rename: fail, end: fail }),
    }
    const work = { kind: 'workflow', name: null, runId: 'w' } as const
    const result = await traceWork(telemetry, work, async (onName) => {
      onName('bill')
      return 3
    })
    expect(result).toBe(3)
    expect(warn).toHaveBeenCalledOnce()
    warn.mockRestore()
  })
})

describe('what telemetry is told', () => {
  test('ends exactly once, also for a call that the log refused', async () => {
    const ends: FinishedCall[] = []
    const telemetry: ToolTelemetry = { beginCall: () => quiet((end) => ends.push(end)) }
    const away = { ...createToolRun({}).context.log, start: fail }
    const run = createToolRun({ runId: 'r', log: away, telemetry })
    await expect(
      run.tools({ charge }).charge.execute({ amount: 1 }, callOptions()),
    ).rejects.toMatchObject({ code: 'TOOL_LOG_UNAVAILABLE' })
    expect(ends).toMatchObject([
      { outcome: 'error', errorCode: 'TOOL_LOG_UNAVAILABLE', ran: false, patch: null },
    ])
  })

  test('reaches calls of every run, until the telemetry is unregistered or replaced', async () => {
    const seen: string[] = []
    const named = (name: string): ToolTelemetry => ({
      beginCall: (call) => {
        seen.push(`${name} ${call.runId}`)
        return undefined
      },
    })
    const callIn = (runId: string): PromiseLike<unknown> =>
      createToolRun({ runId }).tools({ charge }).charge.execute({ amount: 1 }, callOptions())
    const first = registerToolTelemetry(named('first'))
    await callIn('a')
    const second = registerToolTelemetry(named('second'))
    // What was replaced cannot end what replaced it.
    first()
    await callIn('b')
    second()
    await callIn('c')
    expect(seen).toEqual(['first a', 'second b'])
  })

  test('refuses an option that is not telemetry', () => {
    expect(() => createToolRun({ telemetry: true as never })).toThrow(/telemetry/)
  })
})

function quiet(end: (call: FinishedCall) => void): CallTelemetry {
  return { traceId: null, spanId: null, run: (fn) => fn(), event: () => {}, end }
}
