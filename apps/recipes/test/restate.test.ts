import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectTo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type Ingress } from '@restatedev/restate-sdk-clients'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { paymentAgent } from '../src/restate/payment-agent.ts'
import {
  freePort,
  restateBinary,
  type RestateServer,
  startRestate,
} from './fixtures/restate/restate-server.ts'

const binary = restateBinary()
const program = fileURLToPath(new URL('./fixtures/restate/serve-agent.ts', import.meta.url))
const reason = binary === undefined ? ' (no server of Restate for this platform)' : ''

// A provider that knows no keys, so that each request is an effect.
const charges: string[] = []
const keys: string[] = []
let onCharge: (count: number) => unknown = () => undefined
const provider = createServer((request, response) => {
  void (async () => {
    const key = request.headers['idempotency-key']?.toString() ?? ''
    if (request.method === 'GET') {
      response.end(JSON.stringify({ happened: keys.includes(key) }))
      return
    }
    const body = Buffer.concat(await request.toArray()).toString()
    charges.push((JSON.parse(body) as { readonly customer: string }).customer)
    keys.push(key)
    await onCharge(charges.length)
    response.end(JSON.stringify({ charged: true }))
  })()
})

describe.skipIf(binary === undefined)(`the agent in a workflow of Restate${reason}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'restate-recipe-'))
  let server: RestateServer
  let ingress: Ingress
  let port = 0
  let service: ChildProcess | undefined

  beforeAll(async () => {
    provider.listen(0, '127.0.0.1')
    await once(provider, 'listening')
    server = await startRestate(binary ?? '')
    port = await freePort()
    await serveAgent('at-once')
    await server.register(`http://127.0.0.1:${port}`)
    await stopService()
    ingress = connect({ url: server.ingress })
  })
  afterAll(async () => {
    await stopService()
    await server.stop()
    provider.closeAllConnections()
    provider.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function serveAgent(shape: string, moment = '', charge = 0): Promise<ChildProcess> {
    const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`
    const given = [`${port}`, join(folder, 'calls.db'), url, shape, moment, `${charge}`]
    const flags = ['--conditions=@smithers/source', program]
    const started = spawn(process.execPath, [...flags, ...given], { stdio: 'ignore' })
    service = started
    await vi.waitUntil(() => accepts(port), { timeout: 60_000 })
    return started
  }

  async function stopService(): Promise<void> {
    if (service?.exitCode !== null || service.signalCode !== null) return
    const ended = once(service, 'exit')
    service.kill('SIGKILL')
    await ended
  }

  const cases = ['one-a-turn', 'at-once'].flatMap((shape) => [
    [shape, 'in the second call', '', 0] as const,
    [shape, 'once our log has the second call and the journal has not', 'after-finish', 2] as const,
    [shape, 'before the third call', 'before-start', 3] as const,
  ])

  test.each(cases)('charges each once, %s, killed %s', async (shape, what, moment, charge) => {
    charges.length = 0
    keys.length = 0
    const first = await serveAgent(shape, moment, charge)
    const died = once(first, 'exit')
    onCharge = async (count) => {
      if (moment !== '' || count !== 2) return
      first.kill('SIGKILL')
      await died
    }
    const agent = ingress.workflowClient<ReturnType<typeof paymentAgent>>(
      { name: 'payment-agent' },
      `${shape} ${what}`,
    )
    await agent.workflowSubmit('Charge ann, bob and ann again.')
    await died
    expect(first.signalCode).toBe('SIGKILL')
    await serveAgent(shape)
    expect(await agent.workflowAttach()).toBe('Charged.')
    expect(charges).toEqual(['ann', 'bob', 'ann'])
    expect(new Set(keys).size).toBe(3)
    await stopService()
  })
})

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTo(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
