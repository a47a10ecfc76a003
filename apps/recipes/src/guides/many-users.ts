import { mkdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { closeTools, createBuiltinTools } from '@smithers/builtin-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun } from '@smithers/tool-core'
import { ToolLoopAgent } from 'ai'
import { scriptedModel } from './scripted-model.ts'

// Once for the process: the log, and one bundle of tools whose limits hold for each command of every user.
const log = createSqliteLog({ path: 'calls.db' })
const tools = createBuiltinTools({
  isolation: 'auto',
  limits: { memoryMb: 512, processes: 64, timeoutMs: 10_000 },
})

const server = createServer((request, response) => void respond(request, response))

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Your authentication says who it is; a name from the client must never become a path.
  const user = Number(request.headers['x-user'])
  const rootDir = join('users', String(user))
  await mkdir(rootDir, { recursive: true })
  const abandoned = new AbortController()
  response.once('close', () => abandoned.abort())
  const run = createToolRun({
    runId: `user:${user}:${String(request.headers['x-request'])}`,
    rootDir,
    log,
    abortSignal: abandoned.signal,
  })
  try {
    const model = scriptedModel(
      ['write', { path: 'me.txt', content: `user ${user}\n` }],
      ['read', { path: `../${(user + 1) % 10}/me.txt` }],
      ['bash', { command: 'cat me.txt' }],
    )
    const agent = run.agent(new ToolLoopAgent({ model, tools }))
    const { text } = await agent.generate({ prompt: 'Look around.' })
    response.end(text)
  } finally {
    await run.close()
  }
}

await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

const requests = Array.from({ length: 40 }, (_, index) =>
  fetch(`http://127.0.0.1:${port}`, {
    headers: { 'x-user': String(index % 10), 'x-request': String(index) },
  }).then((answer) => answer.text()),
)
await Promise.all(requests)

const rows = await log.list({})
const count = (name: string, status: string) =>
  rows.filter(({ toolName, ...row }) => toolName === name && row.status === status).length
console.log(`${count('write', 'success')} files written, each in its user's folder`)
console.log(`${count('read', 'error')} reads of another user's file refused`)
console.log(await readFile('users/7/me.txt', 'utf8'))

server.close()
await closeTools(tools)
await log.close()
