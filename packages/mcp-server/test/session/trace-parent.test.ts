import { AsyncLocalStorage } from 'node:async_hooks'
import { createMcpServer } from '@smithers/mcp-server'
import { defineTool } from '@smithers/tool-core'
import { context, type Context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { initialize, stdioPair } from '../fixtures/stdio-pair.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

/** The context of OpenTelemetry follows calls, as it does in a program that traces. */
class FollowingContext implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }
  with: ContextManager['with'] = (active, fn, thisArg, ...args) =>
    this.#storage.run(active, () => fn.apply(thisArg as ThisParameterType<typeof fn>, args))
  bind<Target>(_active: Context, target: Target): Target {
    return target
  }
  enable(): this {
    return this
  }
  disable(): this {
    return this
  }
}

beforeAll(() => void context.setGlobalContextManager(new FollowingContext()))
afterAll(() => context.disable())

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

/** What a tool sees as the parent of its span, for each `_meta` of a call. */
async function parentsFor(metas: readonly (object | undefined)[]): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  const traced = defineTool({
    name: 'traced',
    schema: z.object({}),
    execute: async () => {
      await new Promise(setImmediate)
      seen.push(trace.getSpanContext(context.active()))
      return 'done'
    },
  })
  const server = createMcpServer({ rootDir: createWorkspace().root, tools: { traced } })
  const pair = await stdioPair(server)
  await initialize(pair)
  for (const [index, meta] of metas.entries()) {
    const params = { name: 'traced', arguments: {}, ...(meta && { _meta: meta }) }
    pair.send({ jsonrpc: '2.0', id: index + 1, method: 'tools/call', params })
    expect(await pair.answer(index + 1)).toMatchObject({ result: { content: [{ text: 'done' }] } })
  }
  await pair.served.close()
  return seen
}

it("a traceparent makes the client's span the parent of the call alone", async () => {
  const traceparent = `00-${traceId}-${spanId}-01`
  const sampled = { traceId, spanId, traceFlags: 1, isRemote: true }
  expect(await parentsFor([{ traceparent }, undefined, { traceparent }])).toEqual([
    sampled,
    undefined,
    sampled,
  ])
})

it('a traceparent that is none is ignored', async () => {
  const wrong = [`00-${traceId}-${spanId}`, `00-${traceId}-short-01`, 7, { traceId }]
  const metas = wrong.map((traceparent) => ({ traceparent }))
  expect(await parentsFor(metas)).toEqual(wrong.map(() => undefined))
})
