import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { pipeAgentUIStreamToResponse, ToolLoopAgent, type UIMessage } from 'ai'
import { z } from 'zod'
import { scriptedModel } from './scripted-model.ts'

const orders: string[] = []
const order = defineTool({
  name: 'order',
  description: 'Orders an article from the shop.',
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  idempotent: false,
  onRetry: 'reuse',
  execute: ({ sku }, { idempotencyKey }) => {
    orders.push(idempotencyKey)
    return `ordered ${sku}`
  },
})

const log = createSqliteLog({ path: 'calls.db' })
const server = createServer((request, response) => void respond(request, response))

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, messages } = (await json(request)) as { id: string; messages: UIMessage[] }
  // One run for each message of the user: sent again, it is the same work and orders nothing twice.
  const runId = `chat:${id}:${messages.findLast(({ role }) => role === 'user')?.id}`
  const [last] = await log.list({ runId, order: 'descending', limit: 1 })
  const run = createToolRun({ runId, attempt: (last?.attempt ?? 0) + 1, log })
  const model = scriptedModel(['order', { sku: 'lamp' }], 'Your lamp is on its way.')
  await pipeAgentUIStreamToResponse({
    response,
    agent: run.agent(new ToolLoopAgent({ model, tools: { order } })),
    uiMessages: messages,
    onEnd: () => run.close(),
  })
}

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

// What useChat sends when the user presses the button, and presses it again.
const body = JSON.stringify({
  id: 'chat-1',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'A lamp, please.' }] }],
})
for (const press of [1, 2]) {
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body })
  const chunks = (await answer.text()).match(/"delta":"[^"]+"|"output":"[^"]+"/g)
  console.log(`press ${press}:`, chunks)
}
console.log(`${orders.length} order`)
for (const row of await log.list({})) console.log(row.attempt, row.toolName, row.status, row.effect)
server.close()
await log.close()
