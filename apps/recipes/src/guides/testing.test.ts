import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { scriptedModel } from './scripted-model.ts'

// What is tested: a tool that must not ship twice, and may fail.
const shipped: string[] = []
const ship = defineTool({
  name: 'ship',
  schema: z.object({ orderId: z.string().regex(/^A-\d+$/) }),
  sideEffect: true,
  idempotent: false,
  onRetry: 'reuse',
  execute: ({ orderId }, { idempotencyKey }) => {
    shipped.push(idempotencyKey)
    if (orderId === 'A-13') throw new Error('the carrier does not answer')
    return `shipped ${orderId}`
  },
})

test.beforeEach(() => void (shipped.length = 0))

test('a tool can be called without an agent', async () => {
  const run = createToolRun({ runId: 'test', log: createMemoryLog() })
  const call = { toolCallId: 'call-1', messages: [] }
  assert.equal(await run.tools({ ship }).ship.execute({ orderId: 'A-1' }, call), 'shipped A-1')
})

test('wrong arguments are refused before anything happens', async () => {
  const log = createMemoryLog()
  const { ship: bound } = createToolRun({ runId: 'test', log }).tools({ ship })
  const call = { toolCallId: 'call-1', messages: [] }
  await assert.rejects(bound.execute({ orderId: 'nonsense' }, call), { code: 'INVALID_INPUT' })
  assert.deepEqual(
    log.list({}).map(({ status, effect }) => [status, effect]),
    [['error', 'none']],
  )
  assert.equal(shipped.length, 0)
})

test('a retried agent ships once', async () => {
  const log = createMemoryLog()
  for (const attempt of [1, 2]) {
    const run = createToolRun({ runId: 'test', attempt, log })
    const model = scriptedModel(['ship', { orderId: 'A-1' }], 'Shipped.')
    await run.agent(new ToolLoopAgent({ model, tools: { ship } })).generate({ prompt: 'Ship A-1.' })
  }
  assert.equal(shipped.length, 1)
  assert.equal(log.list({}).at(-1)?.replayOf, log.list({})[0]?.callToken)
})

test('after a failure the model is told, and the key stays', async () => {
  const log = createMemoryLog()
  const run = createToolRun({ runId: 'test', log })
  const model = scriptedModel(['ship', { orderId: 'A-13' }], ['ship', { orderId: 'A-13' }])
  await run.agent(new ToolLoopAgent({ model, tools: { ship } })).generate({ prompt: 'Ship A-13.' })
  assert.match(JSON.stringify(model.doGenerateCalls[1]?.prompt), /the carrier does not answer/)
  assert.equal(new Set(shipped).size, 1)
  assert.equal(log.list({})[0]?.effect, 'unknown')
})
