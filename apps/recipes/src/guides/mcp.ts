import { mkdir } from 'node:fs/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { createSqliteLog } from '@smithers/log-sqlite'
import { mcpTools } from '@smithers/tool-adapters'
import { createToolRun } from '@smithers/tool-core'
import { ToolLoopAgent } from 'ai'
import { scriptedModel } from './scripted-model.ts'

// A server over standard input and output: here our own, with a log of its own.
await mkdir('project', { recursive: true })
const client = new Client({ name: 'guide', version: '1.0.0' })
await client.connect(
  new StdioClientTransport({
    command: 'npx',
    args: ['smithers', 'mcp', '--root', 'project', '--log', 'server.db', '--run', 'served'],
    stderr: 'ignore',
  }),
)

// Its tools as tools of the AI SDK, with a log and approvals on this side as well.
const tools = await mcpTools(client, {
  configure: ({ name }) => (name === 'bash' ? { needsApproval: true } : {}),
})
const log = createSqliteLog({ path: 'calls.db' })
const run = createToolRun({ runId: 'over-mcp', log })
const model = scriptedModel(
  ['write', { path: 'hello.txt', content: 'hello\n' }],
  ['read', { path: '../calls.db' }],
  'Done.',
)
const agent = run.agent(new ToolLoopAgent({ model, tools }))
console.log((await agent.generate({ prompt: 'Say hello.' })).text)
await log.close()
await client.close()
