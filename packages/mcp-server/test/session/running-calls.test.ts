import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMcpServer } from '@smithers/mcp-server'
import { defineTool } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startHttp } from '../fixtures/http-server.ts'
import { livingProcess } from '../fixtures/living-process.ts'
import { connectNew, connectOld, lines, textOf } from '../fixtures/mcp-clients.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { initialize, stdioPair } from '../fixtures/stdio-pair.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const marked = (seconds: number): { command: string } => ({
  command: `echo begun > begun.txt; exec sleep ${seconds}`,
})

describe.each(lines)('a running call of %s', (_line, connect) => {
  it('is ended with its process when the client cancels it', async () => {
    const { root } = createWorkspace()
    const client = await connect(serverProgram('--root', root))
    const controller = new AbortController()
    // The number of seconds tells the process apart from others on the machine.
    const seconds = 1_000_000 + Math.floor(Math.random() * 1_000_000)
    const call = client.call('bash', marked(seconds), { signal: controller.signal })
    const ended = call.catch((error: unknown) => error)
    await expect.poll(() => readFileSync(join(root, 'begun.txt'), 'utf8')).toBe('begun\n')
    await expect.poll(() => livingProcess(`sleep ${seconds}`)).toBe(true)
    controller.abort()
    expect(await ended).toBeInstanceOf(Error)
    await expect.poll(() => livingProcess(`sleep ${seconds}`)).toBe(false)
    expect(textOf(await client.call('bash', { command: 'echo still here' }))).toBe('still here\n')
    await client.close()
  })

  it('tells of its progress: time, bytes and the last line without control characters', async () => {
    const { root } = createWorkspace()
    const client = await connect(serverProgram('--root', root))
    const told: string[] = []
    const command = `printf 'first\\nsecond \\033[2J'; until [ -e stop.txt ]; do sleep 0.1; done`
    const call = client.call(
      'bash',
      { command },
      { onprogress: ({ message }) => told.push(message ?? '') },
    )
    const summary = expect.stringMatching(/^\d+ s, 17 bytes: second \\u001b\[2J$/)
    await expect.poll(() => told).toContainEqual(summary)
    await client.call('write', { path: 'stop.txt', content: '' })
    await call
    expect(told[0]).toBe('started')
    await client.close()
  })
})

it('is ended when the HTTP connection of its client ends', async () => {
  const { root } = createWorkspace()
  const { address, rows } = await startHttp({ rootDir: root })
  for (const connect of [connectOld, connectNew]) {
    const seconds = 1_000_000 + Math.floor(Math.random() * 1_000_000)
    const client = await connect(address)
    const ended = client.call('bash', marked(seconds)).catch((error: unknown) => error)
    await expect.poll(() => livingProcess(`sleep ${seconds}`)).toBe(true)
    await client.close()
    await ended
    await expect.poll(() => livingProcess(`sleep ${seconds}`)).toBe(false)
  }
  await expect
    .poll(async () => (await rows()).map(({ status }) => status))
    .toEqual(['error', 'error'])
})

it('waits for its turn when too many run, and leaves the line when it is cancelled', async () => {
  const { root } = createWorkspace()
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const ran: number[] = []
  const slow = defineTool({
    name: 'slow',
    schema: z.object({ n: z.number() }),
    acceptsContext: true,
    execute: async ({ n }) => {
      ran.push(n)
      await gate
      return 'done'
    },
  })
  const server = createMcpServer({ rootDir: root, tools: { slow }, maxConcurrentCalls: 2 })
  const pair = await stdioPair(server)
  await initialize(pair)
  const params = (n: number) => ({ name: 'slow', arguments: { n } })
  for (const id of [1, 2, 3, 4]) {
    pair.send({ jsonrpc: '2.0', id, method: 'tools/call', params: params(id) })
  }
  await expect.poll(() => ran).toEqual([1, 2])
  pair.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } })
  pair.send({ jsonrpc: '2.0', id: 9, method: 'ping' })
  await pair.answer(9)
  open()
  await pair.answer(4)
  expect(ran).toEqual([1, 2, 4])
  await pair.served.close()
})
