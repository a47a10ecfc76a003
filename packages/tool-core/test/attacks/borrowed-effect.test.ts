import { adoptError, createToolRun, defineTool, SmithersError } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

/** An error that says of itself that nothing happened. */
const harmless = (message = 'nothing happened'): SmithersError =>
  new SmithersError('INVALID_INPUT', message, { effect: 'none' })

/** As `@smithers/sandbox` throws them, which tool-core does not depend on. */
class LibraryError extends Error {
  readonly code = 'TOOL_FILE_NOT_FOUND'
  readonly effect = 'none'
  readonly details = {}
}
Object.defineProperty(LibraryError.prototype, Symbol.for('smithers.error'), { value: true })

const refuse = defineTool({
  name: 'refuse',
  schema: z.object({}),
  execute: () => {
    throw harmless()
  },
})

interface Attempt {
  readonly payments: string[]
  readonly signal: AbortSignal
}

/** Makes two attempts of a task whose tool pays, then fails; returns how often it paid, and the effect of the first. */
async function pays(
  fail: (attempt: Attempt) => unknown,
  options: { readonly abort?: (controller: AbortController) => void } = {},
): Promise<{ payments: number; effect: string | null | undefined; second: unknown }> {
  const payments: string[] = []
  const log = createMemoryLog()
  let second: unknown
  for (const attempt of [1, 2]) {
    const controller = new AbortController()
    const run = createToolRun({ runId: 'r', attempt, log })
    const pay = defineTool({
      name: 'pay',
      schema: z.object({ cents: z.number() }),
      sideEffect: true,
      idempotent: false,
      onRetry: 'block',
      execute: async (_args, ctx) => {
        payments.push(ctx.idempotencyKey)
        options.abort?.(controller)
        await fail({ payments, signal: ctx.abortSignal })
      },
    })
    const call = { toolCallId: `c${attempt}`, messages: [], abortSignal: controller.signal }
    second = await run
      .tools({ pay })
      .pay.execute({ cents: 5 }, call)
      .catch((error: unknown) => (error as SmithersError).code)
  }
  const [row] = log.list({ toolName: 'pay' })
  return { payments: payments.length, effect: row?.effect, second }
}

describe('an error that says "no effect" of another call', () => {
  it('is not believed of the call around it', async () => {
    const inner = (): unknown => refuse.execute({}, { toolCallId: 'inner', messages: [] })
    expect(await pays(inner)).toEqual({
      payments: 1,
      effect: 'unknown',
      second: 'TOOL_CALL_BLOCKED',
    })
  })

  it('is not believed when an inner run throws it', async () => {
    const inner = async (): Promise<void> => {
      const run = createToolRun({ runId: 'inner', log: createMemoryLog() })
      const ask = defineTool({
        name: 'ask',
        schema: z.object({}),
        needsApproval: true,
        execute: () => 'never',
      })
      await run
        .tools({ ask })
        .ask.execute({}, { toolCallId: 'i', messages: [] })
        .catch(() => {})
      await run.settle()
    }
    expect(await pays(inner)).toMatchObject({ payments: 1, effect: 'unknown' })
  })

  it('is not believed when a library throws it', async () => {
    const library = (): never => {
      throw new LibraryError('a file is missing')
    }
    expect(await pays(library)).toMatchObject({ payments: 1, effect: 'unknown' })
  })

  it.each(['of the agent', 'of the run'])(
    'is not believed when it is the reason of an abort %s',
    async (whose) => {
      const rejects = ({ signal }: Attempt): unknown =>
        new Promise((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason as Error)
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      const log = createMemoryLog()
      const controller = new AbortController()
      const run = createToolRun({ runId: 'r', log, abortSignal: controller.signal })
      const agent = new AbortController()
      const pay = defineTool({
        name: 'pay',
        schema: z.object({}),
        sideEffect: true,
        idempotent: false,
        execute: (_args, ctx) => rejects({ payments: [], signal: ctx.abortSignal }),
      })
      const called = run
        .tools({ pay })
        .pay.execute({}, { toolCallId: 'c', messages: [], abortSignal: agent.signal })
      const aborted = whose === 'of the run' ? controller : agent
      aborted.abort(harmless('stopped'))
      await expect(called).rejects.toThrow('stopped')
      expect(log.list({})[0]?.effect).toBe('unknown')
    },
  )

  it('is not the reason with which a run aborts its own calls', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const signal = run.abortSignal
    const ask = defineTool({
      name: 'ask',
      schema: z.object({}),
      needsApproval: true,
      execute: () => 'never',
    })
    await run
      .tools({ ask })
      .ask.execute({}, { toolCallId: 'i', messages: [] })
      .catch(() => {})
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    expect(signal.reason).toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED', effect: undefined })
  })

  it('is not believed in the last try after one whose outcome is unknown', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    let tries = 0
    const pay = defineTool({
      name: 'pay',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      retry: { maxRetries: 1, backoffMs: 0 },
      execute: (_args, _ctx) => {
        tries += 1
        throw tries === 1 ? new Error('connection lost after the request') : harmless()
      },
    })
    await expect(
      run.tools({ pay }).pay.execute({}, { toolCallId: 'c', messages: [] }),
    ).rejects.toThrow('nothing happened')
    expect(log.list({})[0]?.effect).toBe('unknown')
  })
})

describe('an error that the tool itself makes', () => {
  it('is believed: the next attempt runs the call', async () => {
    const own = (): never => {
      throw harmless()
    }
    expect(await pays(own)).toEqual({ payments: 2, effect: 'none', second: 'INVALID_INPUT' })
  })

  it('is believed when it is the same object each time', async () => {
    const same = harmless()
    const own = (): never => {
      throw same
    }
    expect(await pays(own)).toMatchObject({ payments: 2, effect: 'none' })
  })

  it('is believed of a library for which the tool vouches', async () => {
    const adopted = (): never => {
      throw adoptError(new LibraryError('a file is missing'))
    }
    expect(await pays(adopted)).toMatchObject({ payments: 2, effect: 'none' })
  })

  it('is believed when every try says so', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const pay = defineTool({
      name: 'pay',
      schema: z.object({}),
      sideEffect: true,
      idempotent: false,
      retry: { maxRetries: 2, backoffMs: 0 },
      execute: (_args, _ctx) => {
        throw harmless()
      },
    })
    await run
      .tools({ pay })
      .pay.execute({}, { toolCallId: 'c', messages: [] })
      .catch(() => {})
    expect(log.list({})[0]?.effect).toBe('none')
  })
})
