import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool, isSmithersError } from '@smithers/tool-core'
import { ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { scriptedModel } from './scripted-model.ts'

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back to a customer.',
  schema: z.object({ customer: z.string(), cents: z.int().positive() }),
  sideEffect: true,
  idempotent: false,
  // A resumed run makes its calls again: what has succeeded is answered from the log.
  onRetry: 'reuse',
  // Small refunds pass, large ones wait for a person.
  needsApproval: ({ cents }) => cents > 1000,
  approvalPrompt: 'Refund {{cents}} cents to {{customer}}?',
  execute: ({ customer, cents }, { idempotencyKey }) => {
    console.log(`paid ${cents} to ${customer}, key ${idempotencyKey.slice(0, 8)}`)
    return `refunded ${cents} cents`
  },
})

const log = createSqliteLog({ path: 'calls.db' })
const [last] = await log.list({ runId: 'ticket-31', order: 'descending', limit: 1 })
const attempt = (last?.attempt ?? 0) + 1
const run = createToolRun({ runId: 'ticket-31', attempt, log })
const model = scriptedModel(
  ['refund', { customer: 'mia', cents: 500 }],
  ['refund', { customer: 'zoe', cents: 4200 }],
  'Both customers have their money.',
)
const agent = run.agent(new ToolLoopAgent({ model, tools: { refund } }))
try {
  const { text } = await agent.generate({ prompt: 'Handle ticket 31.' })
  console.log(text)
} catch (error) {
  if (!isSmithersError(error) || error.code !== 'TOOL_APPROVAL_REQUIRED') throw error
  console.log('paused: a call waits for approval')
} finally {
  await log.close()
}
