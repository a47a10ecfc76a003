import { createMcpServer } from '@smithers/mcp-server'
import { defineTool } from '@smithers/tool-core'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { initialize, stdioPair } from '../fixtures/stdio-pair.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

/** A payment whose first call ends only after its client has left. */
async function paidTwice(repeatWindowMs: number) {
  const { root } = createWorkspace()
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const keys: string[] = []
  const pay = defineTool({
    name: 'pay',
    schema: z.object({ amount: z.number() }),
    sideEffect: true,
    execute: async (_args, ctx) => {
      keys.push(ctx.idempotencyKey)
      await gate
      return `paid as ${keys.length}`
    },
  })
  const server = createMcpServer({ rootDir: root, tools: { pay }, repeatWindowMs })
  const pair = await stdioPair(server)
  await initialize(pair)
  const params = { name: 'pay', arguments: { amount: 5 } }
  pair.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  await expect.poll(() => keys).toHaveLength(1)
  pair.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  pair.send({ jsonrpc: '2.0', id: 2, method: 'ping' })
  await pair.answer(2)
  open()
  await expect.poll(async () => (await server.log.list({}))[0]?.status).not.toBe('started')
  pair.send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params })
  const answer = await pair.answer(3)
  const rows = await server.log.list({})
  await pair.served.close()
  return { keys, rows, answer }
}

it('an equal call within the window, whose answer was never delivered, is the same call', async () => {
  const { keys, rows, answer } = await paidTwice(60_000)
  expect(keys).toHaveLength(1)
  expect(answer).toMatchObject({
    result: {
      content: [{ text: 'paid as 1' }],
      _meta: { 'smithers/call': { outcome: 'success', replayed: true } },
    },
  })
  expect(new Set(rows.map(({ nodeId }) => nodeId)).size).toBe(1)
  expect(new Set(rows.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  expect(rows.map(({ attempt }) => attempt)).toEqual([1, 2])
})

it('without a window it is another call, with another key', async () => {
  const { keys, rows } = await paidTwice(0)
  expect(new Set(rows.map(({ nodeId }) => nodeId)).size).toBe(2)
  expect(new Set(keys).size).toBe(2)
})
