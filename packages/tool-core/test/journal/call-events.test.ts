import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, SmithersError, type ToolCallEvent } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'
import { collect } from '../fixtures/collect.ts'

const channel = tracingChannel<unknown, ToolCallEvent>('smithers:tool-call')
const seen: [string, ToolCallEvent][] = []
const record = (name: string) => (event: unknown) => {
  seen.push([name, { ...(event as ToolCallEvent) }])
}
const subscribers = {
  start: record('start'),
  end: record('end'),
  asyncStart: record('asyncStart'),
  asyncEnd: record('asyncEnd'),
  error: record('error'),
}
beforeEach(() => {
  seen.length = 0
  channel.subscribe(subscribers)
})
afterEach(() => {
  channel.unsubscribe(subscribers)
})

const names = (): string[] => seen.map(([name]) => name)
const echo = defineTool({
  name: 'echo',
  schema: z.object({ text: z.string() }),
  execute: async ({ text }) => {
    if (text === 'fail') throw new TypeError('no')
    return text
  },
})

describe('the channel of calls', () => {
  test('report a call with the identity of its row', async () => {
    const log = createMemoryLog()
    await createToolRun({ runId: 'r', log })
      .tools({ echo })
      .echo.execute({ text: 'a' }, callOptions())
    expect(names()).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    const [row] = log.snapshot()
    const { runId, seq, callToken, idempotencyKey, toolName, inputJson } = row ?? ({} as never)
    const identity = { runId, seq, callToken, idempotencyKey, toolName, inputJson }
    for (const [, event] of seen) expect(event).toMatchObject(identity)
    expect(seen.at(-1)?.[1]).toMatchObject({ status: 'success', outputJson: '"a"' })
  })

  test('report failures with what was thrown, refusals and streams', async () => {
    await echo.execute({ text: 'fail' }, callOptions()).catch(() => {})
    expect(names()).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
    expect(seen[2]?.[1].error).toBeInstanceOf(TypeError)
    seen.length = 0
    await echo.execute({} as never, callOptions()).catch(() => {})
    expect(names()).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
    seen.length = 0
    const count = defineTool({
      name: 'count',
      schema: z.object({}),
      async *execute() {
        yield* [1, 2]
      },
    })
    await collect(count.execute({}, callOptions()))
    expect(names()).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
  })

  test('shows no more than the log does, also of errors', async () => {
    const content = 'a line of the file'
    const write = defineTool({
      name: 'write',
      schema: z.object({ content: z.string() }),
      logInput: () => 'mapped',
      execute: async () => {
        throw new SmithersError('TOOL_PATCH_FAILED', `found "${content}"`, {
          logMessage: 'hunk 1 does not match',
        })
      },
    })
    const call = write.execute({ content }, callOptions())
    await expect(call).rejects.toThrow(content)
    const shown = seen.map(([, event]) => [event, event.error, (event.error as Error)?.stack])
    expect(JSON.stringify(shown)).not.toContain(content)
    expect(seen.at(-1)?.[1].error).toMatchObject({ message: 'hunk 1 does not match' })
  })

  test.each([
    ['message', new Error('login with s3cr3t failed')],
    ['cause', new Error('login failed', { cause: new Error('s3cr3t') })],
    ['details', new SmithersError('TOOL_FAILED', 'no', { details: { url: 'http://s3cr3t@x' } })],
    ['field', Object.assign(new Error('no'), { config: { headers: { authorization: 's3cr3t' } } })],
    ['thrown object', { request: ['s3cr3t'] }],
  ])('shows no secret of the run in an error: %s', async (_where, thrown) => {
    const login = defineTool({
      name: 'login',
      schema: z.object({}),
      execute: async () => {
        throw thrown
      },
    })
    const log = createMemoryLog()
    const run = createToolRun({ log, redact: { values: ['s3cr3t'] }, errorStacks: true })
    const call = run.tools({ login }).login.execute({}, callOptions())
    await expect(call).rejects.toBe(thrown)
    const shown = seen.map(([, event]) => inspect(event, { depth: 10, showHidden: true }))
    expect(shown.join('\n')).not.toContain('s3cr3t')
    expect(seen.at(-1)?.[1].error).toMatchObject({ message: expect.any(String) as string })
  })

  test('reports a snapshot that failed before the call ends', async () => {
    const act = defineTool({
      name: 'act',
      schema: z.object({}),
      sideEffect: true,
      execute: (_args, _ctx) => 'ok',
    })
    await createToolRun({ durabilitySnapshot: async () => throwing() })
      .tools({ act })
      .act.execute({}, callOptions())
    expect(names().at(-1)).toBe('asyncEnd')
    expect(seen.at(-1)?.[1].snapshotError).toMatchObject({ message: 'listener' })
  })

  test('binds what a subscriber attaches to the start for all that the tool does', async () => {
    const span = new AsyncLocalStorage<string>()
    channel.start.bindStore(span, (event) => `span of ${event.toolName}`)
    const inSpan = defineTool({
      name: 'inner',
      schema: z.object({}),
      execute: async () => {
        await Promise.resolve()
        return span.getStore()
      },
    })
    expect(await inSpan.execute({}, callOptions())).toBe('span of inner')
    channel.start.unbindStore(span)
  })

  test('is not changed in its outcome by a listener that throws', async () => {
    const raised: unknown[] = []
    const catching = (error: unknown): void => {
      raised.push(error)
    }
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', catching)
    channel.start.subscribe(throwing)
    channel.asyncEnd.subscribe(throwing)
    const log = createMemoryLog()
    const answer = await createToolRun({ log })
      .tools({ echo })
      .echo.execute({ text: 'a' }, callOptions())
    await new Promise((resolve) => setImmediate(resolve))
    channel.start.unsubscribe(throwing)
    channel.asyncEnd.unsubscribe(throwing)
    process.removeListener('uncaughtException', catching)
    for (const listener of listeners) process.on('uncaughtException', listener)
    expect(answer).toBe('a')
    expect(log.snapshot()).toMatchObject([{ status: 'success' }])
    // Node reports what a subscriber throws to the process, as for every channel.
    expect(raised).toHaveLength(2)
  })
})

function throwing(): void {
  throw new Error('listener')
}
