import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { scriptedModel } from './scripted-model.ts'

// The mail server is a file. It sends everything it is given, twice if it is given twice.
const sent = () => (existsSync('sent.txt') ? readFileSync('sent.txt', 'utf8') : '')

const invite = defineTool({
  name: 'invite',
  description: 'Sends an invitation by mail.',
  schema: z.object({ to: z.email() }),
  sideEffect: true,
  idempotent: false,
  onRetry: 'reuse',
  // Called only if the log cannot tell whether an earlier call took effect.
  verify: ({ to }, { idempotencyKey }) =>
    sent().includes(`${idempotencyKey}`)
      ? { happened: true, output: `invited ${to}` }
      : { happened: false },
  execute: ({ to }, { idempotencyKey }) => {
    appendFileSync('sent.txt', `${to} ${idempotencyKey}\n`)
    // A crash at the worst moment: the mail is out, and its answer is lost.
    if (to.startsWith('bob')) process.kill(process.pid, 'SIGKILL')
    return `invited ${to}`
  },
})

const log = createSqliteLog({ path: 'calls.db' })
const [last] = await log.list({ runId: 'party', order: 'descending', limit: 1 })
const attempt = (last?.attempt ?? 0) + 1
console.log(`attempt ${attempt}`)

const run = createToolRun({ runId: 'party', attempt, log })
const model = scriptedModel(
  ['invite', { to: 'ada@example.com' }],
  ['invite', { to: 'bob@example.com' }],
  ['invite', { to: 'eve@example.com' }],
  'All three are invited.',
)
const agent = run.agent(new ToolLoopAgent({ model, tools: { invite } }))
const { text } = await agent.generate({ prompt: 'Invite ada, bob and eve.' })
console.log(text)
await log.close()
