import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun } from '@smithers/tool-core'

// Two servers, in place of api.example.com and another one.
const [allowed, other] = await Promise.all(
  ['the prices', 'anything else'].map(async (text) => {
    const server = createServer((_request, response) => response.end(text))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
  }),
)
if (allowed === undefined || other === undefined) throw new Error('no servers')

await mkdir('project', { recursive: true })
const log = createMemoryLog()
const run = createToolRun({
  runId: 'prices',
  rootDir: 'project',
  log,
  // A public server is allowed by its name: 'api.example.com', '*.example.com'.
  network: { allow: [allowed.host] },
})
// Clients use no proxy for 127.0.0.1. Only this example needs them to.
const env = { set: { NO_PROXY: '', no_proxy: '' } }
const { bash } = run.tools(createBuiltinTools({ only: ['bash'], env }))

let calls = 0
for (const { host } of [allowed, other]) {
  const fetchIt = `fetch('http://${host}').then((r) => r.text()).then(console.log)`
  const args = ['--use-env-proxy', '--eval', fetchIt]
  const call = { toolCallId: `call-${++calls}`, messages: [] }
  await bash.execute({ cmd: 'node', args }, call).then(
    (output) => console.log(output.trim()),
    // The message goes on with the output of the command.
    (error: Error) => console.log(error.message.split('. ')[1]?.replace(host, 'HOST')),
  )
}

// What the commands asked of the network is in the rows of their calls.
for (const { seq, networkJson } of log.list({ runId: 'prices' })) {
  const { connections } = JSON.parse(networkJson ?? '{"connections":[]}') as {
    connections: { allowed: boolean; reason?: string; bytesReceived: number }[]
  }
  for (const { allowed: passed, reason, bytesReceived } of connections) {
    const what = passed && bytesReceived > 0 ? 'allowed, and answered' : `refused: ${reason}`
    console.log(`call ${seq}: ${what}`)
  }
}
await run.close()
for (const { server } of [allowed, other]) server.close()
