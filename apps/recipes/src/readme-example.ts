import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tools } from '@smithers/builtin-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { z } from 'zod'

const sendMail = defineTool({
  name: 'send_mail',
  schema: z.object({ to: z.email(), text: z.string() }),
  sideEffect: true,
  idempotent: false,
  // A retry may reword free text. The key names the intent.
  key: ({ to }) => ['welcome', to],
  execute: async ({ to }, ctx) => `sent to ${to} with key ${ctx.idempotencyKey}`,
})

const folder = await mkdtemp(join(tmpdir(), 'smithers-'))
const rootDir = join(folder, 'project')
await mkdir(rootDir)
// Beside the root, not in it: the tools must not be able to change their log.
const log = createSqliteLog({ path: join(folder, 'calls.db') })
const run = createToolRun({ runId: 'hello', nodeId: 'welcome', rootDir, log })
const { read, write, bash, mail } = run.tools({ ...tools, mail: sendMail })

// An agent gets the same object: new ToolLoopAgent({ model, tools: run.tools(…) }). Here we make its calls.
let calls = 0
const call = () => ({ toolCallId: `call-${++calls}`, messages: [] })
const refused = (error: Error) => console.log(error.message.split('. ')[0])

await write.execute({ path: 'notes/plan.md', content: '# Plan\n' }, call())
console.log(await bash.execute({ cmd: 'wc', args: ['-l', 'notes/plan.md'] }, call()))
console.log(await mail.execute({ to: 'ada@example.com', text: 'Welcome!' }, call()))
await read.execute({ path: '../outside.txt' }, call()).catch(refused)
await bash.execute({ cmd: 'curl', args: ['http://127.0.0.1'] }, call()).catch(refused)

for (const row of await log.list({ runId: 'hello' })) {
  console.log(row.seq, row.toolName, row.status, row.effect)
}
await log.close()
await rm(folder, { recursive: true })
