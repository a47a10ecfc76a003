import { createMemoryLog } from '@smithers/log-memory'
import { adaptTool, type ForeignFunction } from '@smithers/tool-adapters'
import { createToolRun } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const schema = z.looseObject({ list: z.array(z.unknown()).optional() })
const options = { toolCallId: 'call_1', messages: [] }

function session(func: ForeignFunction, settings: Parameters<typeof adaptTool>[1] = {}) {
  const log = createMemoryLog()
  const run = createToolRun({ runId: 'r', log, maxInlineOutputBytes: 1000 })
  const { tool } = run.tools({ tool: adaptTool({ name: 'tool', schema, func }, settings) })
  return { log, tool }
}

const trapped = (): never => {
  throw new Error('A trap was sprung.')
}
const hostileHandler: ProxyHandler<object> = {
  get: trapped,
  has: trapped,
  ownKeys: trapped,
  getPrototypeOf: trapped,
  getOwnPropertyDescriptor: trapped,
}
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe('a foreign tool that misbehaves', () => {
  it('and changes its arguments changes neither the conversation, nor the log, nor its next try', async () => {
    const seen: unknown[] = []
    const { log, tool } = session(
      (args: { list: unknown[]; extra?: string; nested: { deep: string[] } }) => {
        seen.push(structuredClone(args))
        args.list.push('mine')
        args.nested.deep.length = 0
        args.extra = 'mine'
        throw new Error('again')
      },
      { retry: { maxRetries: 1, backoffMs: 1 } },
    )
    const given = { list: [1], nested: { deep: ['a'] } }
    await expect(tool.execute(given, options)).rejects.toThrow('again')
    const before = { list: [1], nested: { deep: ['a'] } }
    expect(given).toEqual(before)
    expect(seen).toEqual([before, before])
    expect(log.snapshot()).toMatchObject([{ inputJson: JSON.stringify(before) }])
  })

  it('gets arguments that contain themselves, class instances and __proto__ as they are', async () => {
    let seen: Record<string, unknown> = {}
    const func = (args: Record<string, unknown>): void => {
      seen = args
    }
    const { tool } = session(func, { schema: z.custom<object>(), key: () => 'the same' })
    const url = new URL('https://example.com')
    const given = JSON.parse('{"inner":{"__proto__":{"a":1}}}') as Record<string, unknown>
    Object.assign(given, { self: given, url })
    await tool.execute(given, options)
    expect(seen).not.toBe(given)
    expect(seen['self']).toBe(seen)
    expect(seen['url']).toBe(url)
    expect(Object.keys(seen['inner'] as object)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(seen['inner'])).toBe(Object.prototype)
  })

  it.each([
    ['a text', 'no service', 'no service'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['an object', { code: 7 }, '{ code: 7 }'],
    ['an object without prototype', Object.create(null), '[Object: null prototype] {}'],
    ['a symbol', Symbol('gone'), 'Symbol(gone)'],
    ['a proxy with traps', new Proxy({}, hostileHandler), '{}'],
    ['a revoked proxy', revoked(), '<Revoked Proxy>'],
    ['a class that converts to nothing', { toString: trapped, message: 1 }, 'toString'],
  ])(
    'and throws %s fails the call with a code, and leaves a finished row',
    async (_what, thrown, said) => {
      const { log, tool } = session(() => {
        throw thrown
      })
      await expect(tool.execute({}, options)).rejects.toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.stringContaining(said),
      })
      expect(log.snapshot()).toMatchObject([{ status: 'error', effect: 'unknown' }])
    },
  )

  it('and throws an error, also one of the platform, throws that error', async () => {
    const abort = AbortSignal.abort().reason as Error
    for (const error of [new TypeError('wrong'), abort]) {
      const { tool } = session(() => Promise.reject(error))
      await expect(tool.execute({}, options)).rejects.toBe(error)
    }
  })

  it('and does not stop when it is aborted is left alone', async () => {
    const started = Promise.withResolvers<void>()
    const { log, tool } = session(() => {
      started.resolve()
      return new Promise(() => {})
    })
    const controller = new AbortController()
    const call = tool.execute({}, { ...options, abortSignal: controller.signal })
    await started.promise
    controller.abort(new Error('enough'))
    await expect(call).rejects.toMatchObject({
      code: 'TOOL_ABORTED',
      cause: expect.objectContaining({ message: 'enough' }),
    })
    expect(log.snapshot()).toMatchObject([{ status: 'error', effect: 'unknown' }])
  })

  it('and stops by itself when it is aborted ends as it says', async () => {
    const { tool } = session(
      (_args: never, { signal }: { signal: AbortSignal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => setImmediate(() => resolve('half done')))
        }),
    )
    const controller = new AbortController()
    const call = tool.execute({}, { ...options, abortSignal: controller.signal })
    controller.abort()
    expect(await call).toBe('half done')
  })

  it.each([
    ['a proxy with traps', () => new Proxy({}, { ownKeys: trapped, getPrototypeOf: trapped })],
    ['a function', () => (): void => {}],
    [
      'a cycle',
      () => {
        const a: { a?: unknown } = {}
        a.a = a
        return a
      },
    ],
    ['a BigInt', () => 10n],
  ])('and returns %s succeeds, and its row says so', async (_what, make) => {
    const { log, tool } = session(make)
    await tool.execute({}, options)
    expect(log.snapshot()).toMatchObject([{ status: 'success', effect: 'applied' }])
    expect(() => JSON.parse(log.snapshot()[0]?.outputJson ?? '')).not.toThrow('JSON')
  })

  it.each([
    ['a revoked proxy', revoked],
    ['a proxy whose properties cannot be read', () => new Proxy({}, hostileHandler)],
  ])('and returns %s fails the call, and leaves a finished row', async (_what, make) => {
    const { log, tool } = session(make)
    await expect(tool.execute({}, options)).rejects.toThrow(/proxy|trap/)
    expect(log.snapshot()).toMatchObject([{ status: 'error', effect: 'unknown' }])
  })

  it('and returns 50 MB fills neither the log nor the conversation of a limited run', async () => {
    const { log, tool } = session(() => 'x'.repeat(50_000_000))
    expect(String(await tool.execute({}, options)).length).toBeLessThanOrEqual(1000)
    expect(log.snapshot()[0]?.outputJson?.length).toBeLessThanOrEqual(200_000)
  })
})
