import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'
import { closeTools, createBuiltinTools } from '@smithers/builtin-tools'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, isSmithersError } from '@smithers/tool-core'

const data = process.env['DATA'] ?? 'data'
const rootDir = resolve(data, 'roots', 'health')
await mkdir(rootDir, { recursive: true })
await mkdir(join(data, 'log'), { recursive: true })

const log = createSqliteLog({ path: join(data, 'log', 'calls.db') })
// Refuses to run commands that the operating system does not keep inside the root.
const tools = createBuiltinTools({ isolation: { require: ['files', 'network', 'kill'] } })

/** Runs a command as an agent would, in a root of its own. */
async function health(): Promise<{ status: number; text: string }> {
  const run = createToolRun({ runId: `health:${Date.now()}`, rootDir, log })
  try {
    const call = { toolCallId: 'health', messages: [] }
    const { bash } = run.tools({ bash: tools.bash })
    await bash.execute({ cmd: 'true' }, call)
    return { status: 200, text: 'commands run, confined' }
  } catch (error) {
    if (!isSmithersError(error)) throw error
    return { status: 503, text: `no command runs: ${error.code}` }
  } finally {
    await run.close()
  }
}

async function stop(): Promise<void> {
  server.close()
  await closeTools(tools)
  await log.close()
}

const server = createServer((_request, response) => {
  void health().then(({ status, text }) => response.writeHead(status).end(text))
})
if (process.env['HEALTH_ONLY'] === undefined) {
  process.once('SIGTERM', () => void stop())
  server.listen(Number(process.env['PORT'] ?? 8080))
} else {
  const { text } = await health()
  console.log(text)
  await stop()
}
