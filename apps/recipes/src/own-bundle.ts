// Your own bundle: two built-in tools and a tool that costs money. The agent's model is a mock, so that
// this runs offline; put any AI SDK model in its place.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeTools, createBuiltinTools } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool, toolset } from '@smithers/tool-core'
import { ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { scriptedModel } from './guides/scripted-model.ts'

// The shop is a service that takes idempotency keys: it places each order once.
const orders = new Map<string, string>()

const placeOrder = defineTool({
  name: 'shop.place_order',
  description: 'Orders an article from the shop.',
  schema: z.object({ sku: z.string(), note: z.string().optional() }),
  sideEffect: true,
  idempotent: false,
  // The note is free text. With another note it is still the same order.
  key: ({ sku }) => [sku],
  execute({ sku }, ctx) {
    orders.set(ctx.idempotencyKey, sku)
    return `ordered ${sku}`
  },
})

// No bash, no write: this agent can look and order, nothing else.
const bundle = createBuiltinTools({ only: ['read', 'grep'] })
const tools = toolset([bundle.read, bundle.grep, placeOrder])
console.log(Object.keys(tools))

const rootDir = await mkdtemp(join(tmpdir(), 'own-bundle-'))
await writeFile(join(rootDir, 'shopping.txt'), 'milk-1l\n')

const log = createMemoryLog()
for (const attempt of [1, 2]) {
  const run = createToolRun({ runId: 'run-1', nodeId: 'shopper', attempt, rootDir, log })
  const model = scriptedModel(
    ['read', { path: 'shopping.txt' }],
    ['shop_place_order', { sku: 'milk-1l', note: `attempt ${attempt}` }],
  )
  const agent = run.agent(new ToolLoopAgent({ model, tools }))
  const { text } = await agent.generate({ prompt: 'Buy what is on the list.' })
  console.log(text)
}
await closeTools(bundle)

// Two attempts, one order: the key names the order, not the attempt.
console.log([...orders.values()])
for (const row of log.list({ runId: 'run-1' })) {
  console.log(`${row.attempt}.${row.seq} ${row.toolName} ${row.status}`)
}
await rm(rootDir, { recursive: true })
