import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateText, type ModelMessage, stepCountIs } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, type ToolCallLog } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { type Charge, StripeLikeProvider } from './fixtures/provider.ts'
import { type ScriptedCall, scriptedModel, type Turn } from './fixtures/scripted-model.ts'

// The published system gives all calls of a task one key, which turns three intended charges into one.

let provider = new StripeLikeProvider()
let server: Server
let url = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    void answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/charges`
})
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await request.toArray()).toString()
  try {
    const key = request.headers['idempotency-key']
    response.end(provider.charge(JSON.parse(body) as Charge, key?.toString()))
  } catch (error) {
    response.writeHead(400).end(String(error))
  }
}
afterAll(() => {
  server.close()
})
beforeEach(() => {
  provider = new StripeLikeProvider()
})

function chargeTool(
  keyOf: (ctx: { idempotencyKey: string; taskIdempotencyKey: string }) => string,
) {
  return defineTool({
    name: 'charge',
    schema: z.object({ customer: z.string(), amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    execute: async (charge, ctx) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'idempotency-key': keyOf(ctx) },
        body: JSON.stringify(charge),
        signal: ctx.abortSignal,
      })
      if (!response.ok) throw new Error(await response.text())
      return response.text()
    },
  })
}

const charge = chargeTool((ctx) => ctx.idempotencyKey)
const alice = { customer: 'alice', amount: 100 }
const bob = { customer: 'bob', amount: 250 }
const call = (id: string, input: Charge): ScriptedCall => ({ id, tool: 'charge', input })
const oneByOne: Turn[] = [[call('1', alice)], [call('2', bob)], [call('3', alice)]]
const atOnce: Turn[] = [[call('1', alice), call('2', bob), call('3', alice)]]

async function attempt(
  number: number,
  log: ToolCallLog,
  turns: readonly Turn[],
  messages: ModelMessage[] = [{ role: 'user', content: 'charge alice, bob and alice' }],
  tool = charge,
): Promise<ModelMessage[]> {
  const run = createToolRun({ runId: 'r', attempt: number, log })
  const result = await generateText({
    model: scriptedModel(turns),
    messages,
    tools: run.tools({ charge: tool }),
    stopWhen: stepCountIs(10),
  })
  return run.settle([...messages, ...result.responseMessages])
}

describe('three charges, two of them equal', () => {
  test.each([
    ['one by one', oneByOne],
    ['at once', atOnce],
  ])('are three, made %s', async (_how, turns) => {
    await attempt(1, createMemoryLog(), turns)
    expect(provider.charges).toEqual([alice, bob, alice])
  })

  test('are still three when the attempt is retried from scratch, in another order', async () => {
    const log = createMemoryLog()
    await attempt(1, log, oneByOne)
    await attempt(2, log, [[call('b', bob)], [call('x', alice), call('y', alice)]])
    await attempt(3, log, oneByOne)
    expect(provider.charges).toEqual([alice, bob, alice])
  })

  test('are still three when the attempt died after two and resumes with its conversation', async () => {
    const log = createMemoryLog()
    const history = await attempt(1, log, oneByOne.slice(0, 2))
    await attempt(2, log, [[call('4', alice)]], history)
    expect(provider.charges).toEqual([alice, bob, alice])
  })

  test('are one with the key of the task, as a control', async () => {
    const literal = chargeTool((ctx) => ctx.taskIdempotencyKey)
    await attempt(1, createMemoryLog(), oneByOne, undefined, literal)
    expect(provider.charges).toEqual([alice])
  })
})
