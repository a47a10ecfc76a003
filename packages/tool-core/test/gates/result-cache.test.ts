import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { call } from './call.ts'

const schema = z.object({ url: z.string() })

function fetcher(
  cache: Parameters<typeof defineTool>[0]['cache'],
  make: (n: number) => unknown = (n) => ({ page: n }),
) {
  let executions = 0
  const tool = defineTool({
    name: 'fetch_page',
    schema,
    ...(cache === undefined ? {} : { cache }),
    execute: async () => {
      executions += 1
      await new Promise((resolve) => setImmediate(resolve))
      return make(executions)
    },
  })
  return { tool, executions: () => executions }
}

describe('cache', () => {
  it('runs once for 50 equal calls in parallel, and flags the other rows as coming from the cache', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const { tool, executions } = fetcher(true)
    const results = await Promise.all(
      Array.from({ length: 50 }, () => call(run, tool, { url: 'a' })),
    )
    expect(executions()).toBe(1)
    expect(results).toEqual(Array.from({ length: 50 }, () => ({ page: 1 })))
    const rows = log.snapshot()
    const hits = rows.filter(({ fromCache }) => fromCache === true)
    expect(hits).toHaveLength(49)
    const ran = rows.find(({ fromCache }) => fromCache !== true)
    expect(new Set(hits.map(({ replayOf }) => replayOf))).toEqual(new Set([ran?.callToken]))
    expect(new Set(hits.map(({ effect, outputJson }) => `${effect} ${outputJson}`))).toEqual(
      new Set(['none {"page":1}']),
    )
  })

  it('gives every reader a copy, so that one cannot change what others read', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool } = fetcher(true, () => ({ list: [1], when: new Date(0) }))
    const first = (await call(run, tool, { url: 'a' })) as { list: number[]; when: Date }
    first.list.push(2)
    const second = (await call(run, tool, { url: 'a' })) as { list: number[]; when: Date }
    second.list.push(3)
    second.when.setTime(9)
    expect(await call(run, tool, { url: 'a' })).toEqual({ list: [1], when: new Date(0) })
  })

  it('runs again for a result that cannot be copied', async () => {
    class Page {
      readonly text = 'x'
    }
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool, executions } = fetcher(true, () => new Page())
    const results = await Promise.all([
      call(run, tool, { url: 'a' }),
      call(run, tool, { url: 'a' }),
    ])
    expect(results.every((result) => result instanceof Page)).toBe(true)
    expect(executions()).toBe(2)
  })

  it('keeps no failure: everybody who waited gets it, and the next call runs', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool, executions } = fetcher(true, (n) => {
      if (n === 1) throw new Error('down')
      return n
    })
    const settled = await Promise.allSettled([
      call(run, tool, { url: 'a' }),
      call(run, tool, { url: 'a' }),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await call(run, tool, { url: 'a' })).toBe(2)
    expect(executions()).toBe(2)
  })

  it('is shared by the tasks of a run only when its scope is the run', async () => {
    const log = createMemoryLog()
    const tasks = ['a', 'b'].map((nodeId) => createToolRun({ runId: 'r', nodeId, log }))
    const own = fetcher(true)
    const shared = fetcher({ scope: 'run' })
    for (const run of tasks) {
      await call(run, own.tool, { url: 'a' })
      await call(run, shared.tool, { url: 'a' })
    }
    expect([own.executions(), shared.executions()]).toEqual([2, 1])
  })

  it('uses keyFn, and a keyFn that throws fails that call alone', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const { tool, executions } = fetcher({
      keyFn: ({ url }: { url: string }) => {
        if (url === 'bad') throw new Error('no key')
        return url.toLowerCase()
      },
    } as never)
    await call(run, tool, { url: 'A' })
    await expect(call(run, tool, { url: 'bad' })).rejects.toThrow(/keyFn failed: no key/)
    await call(run, tool, { url: 'a' })
    expect(executions()).toBe(1)
    expect(log.snapshot().map(({ status, effect }) => `${status} ${effect}`)).toEqual([
      'success none',
      'error none',
      'success none',
    ])
  })

  it('reuses nothing when ttlMs is 0, and nothing older than ttlMs', async () => {
    const now = vi.spyOn(performance, 'now')
    try {
      const run = createToolRun({ runId: 'r', log: createMemoryLog() })
      const none = fetcher({ ttlMs: 0 })
      await Promise.all([call(run, none.tool, { url: 'a' }), call(run, none.tool, { url: 'a' })])
      expect(none.executions()).toBe(2)
      const short = fetcher({ ttlMs: 1000 })
      now.mockReturnValue(5000)
      await call(run, short.tool, { url: 'a' })
      now.mockReturnValue(5999)
      await call(run, short.tool, { url: 'a' })
      expect(short.executions()).toBe(1)
      now.mockReturnValue(6000)
      await call(run, short.tool, { url: 'a' })
      expect(short.executions()).toBe(2)
    } finally {
      now.mockRestore()
    }
  })

  it('is refused at definition for a side effect that is not idempotent', () => {
    const define = (idempotent: boolean) =>
      defineTool({
        name: 't',
        schema,
        sideEffect: true,
        idempotent,
        cache: true,
        execute: (_args, _ctx) => 1,
      })
    expect(() => define(false)).toThrow(expect.objectContaining({ code: 'INVALID_TOOL' }))
    expect(define(true)).toHaveProperty('execute')
  })
})

describe('equal calls that wait for one', () => {
  /** A tool whose calls end when told to, and the signals of those that run. */
  function slow(timeoutMs?: number) {
    const running: { end: (value: string) => void; signal: AbortSignal }[] = []
    const tool = defineTool({
      name: 'slow',
      schema,
      cache: true,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      execute: (_args, { abortSignal: signal }) =>
        new Promise<string>((resolve, reject) => {
          running.push({ end: resolve, signal })
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        }),
    })
    return { tool, running }
  }
  const reason = new Error('the user has left')

  it('run one of them in its place when the call that they wait for is stopped', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const { tool, running } = slow()
    const leaving = new AbortController()
    const first = call(run, tool, { url: 'a' }, { abortSignal: leaving.signal })
    const others = [1, 2].map(() => call(run, tool, { url: 'a' }))
    await vi.waitFor(() => expect(running).toHaveLength(1), { timeout: 60_000 })
    leaving.abort(reason)
    await expect(first).rejects.toBe(reason)
    await vi.waitFor(() => expect(running).toHaveLength(2), { timeout: 60_000 })
    running[1]?.end('page')
    expect(await Promise.all(others)).toEqual(['page', 'page'])
    expect(running).toHaveLength(2)
    expect(log.snapshot().filter(({ fromCache }) => fromCache === true)).toHaveLength(1)
  })

  it('share the failure of the tool itself', async () => {
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    const { tool, running } = slow(20)
    const calls = [1, 2].map(() => call(run, tool, { url: 'a' }))
    for (const each of calls) await expect(each).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
    expect(running).toHaveLength(1)
  })

  it('stop waiting when they are stopped, and leave the others alone', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    const { tool, running } = slow()
    const first = call(run, tool, { url: 'a' })
    const leaving = new AbortController()
    const second = call(run, tool, { url: 'a' }, { abortSignal: leaving.signal })
    const third = call(run, tool, { url: 'a' })
    await vi.waitFor(() => expect(running).toHaveLength(1), { timeout: 60_000 })
    leaving.abort(reason)
    await expect(second).rejects.toMatchObject({ code: 'TOOL_ABORTED', cause: reason })
    expect(running[0]?.signal.aborted).toBe(false)
    running[0]?.end('page')
    expect(await Promise.all([first, third])).toEqual(['page', 'page'])
    const stopped = log.snapshot().find(({ status }) => status === 'error')
    expect(stopped).toMatchObject({ effect: 'none' })
  })

  it('wait no longer than their own time limit, which counts as no execution', async () => {
    const log = createMemoryLog()
    let executions = 0
    // The limit of the tool's own time begins when it runs, that of a waiting call when it waits.
    const tool = defineTool({
      name: 'slow',
      schema,
      cache: true,
      timeoutMs: 30,
      maxExecutionsPerRun: 2,
      execute: () => {
        executions += 1
        return 'page'
      },
    })
    const never = new Promise<never>(() => {})
    const stuck = createToolRun({
      runId: 'r',
      log: {
        ...log,
        start: (...given) => (given[0].toolCallId === 'stuck' ? never : log.start(...given)),
      },
    })
    void call(stuck, tool, { url: 'a' }, { toolCallId: 'stuck' })
    await expect(call(stuck, tool, { url: 'a' })).rejects.toMatchObject({
      code: 'TOOL_TIMEOUT',
      effect: 'none',
      message: expect.stringContaining('was not run') as string,
    })
    const resumed = createToolRun({ runId: 'r', attempt: 2, log })
    await call(resumed, tool, { url: 'a' })
    await call(resumed, tool, { url: 'b' })
    expect(executions).toBe(2)
  })
})
