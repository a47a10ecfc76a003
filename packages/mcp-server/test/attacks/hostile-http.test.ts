import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { modernInit, modernRequest } from '../fixtures/modern-request.ts'
import { beginSession } from '../fixtures/raw-session.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const read = { name: 'read', arguments: { path: 'a.txt' } }
// As they were before anything was served.
const { Request, Response } = globalThis

it('bodies that are no messages begin nothing, and the next request is served', async () => {
  const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
  const { address, rows, notes } = await startHttp({ rootDir: root })
  const { headers } = modernInit(address.token, 'tools/call', read)
  const call = { jsonrpc: '2.0', method: 'tools/call', params: read }
  const bodies = [
    '',
    '{"jsonrpc":"2.0","id":1,"method":',
    '\u001B[2Jnot json',
    'null',
    '"text"',
    '[]',
    '['.repeat(1_000_000),
    JSON.stringify(Array.from({ length: 101 }, (_, id) => ({ ...call, id }))),
    '{"id":{"a":1},"jsonrpc":"2.0","method":"tools/call"}',
  ]
  for (const body of bodies) {
    const answer = await fetch(address.url, { method: 'POST', headers: headers ?? {}, body })
    expect(answer.status, body.slice(0, 40)).toBe(400)
  }
  // What a page may send without asking first.
  const plain = { ...(headers as Record<string, string>), 'Content-Type': 'text/plain' }
  const body = JSON.stringify({ ...call, id: 1 })
  expect((await fetch(address.url, { method: 'POST', headers: plain, body })).status).toBe(415)
  expect(await rows()).toEqual([])
  expect(notes.join('')).not.toContain('\u001B')
  expect(await modernRequest(address.url, address.token, 'tools/call', read)).toMatchObject({
    result: { content: [{ text: 'alpha\n' }] },
  })
})

/** The status of the answer; undefined where the connection was reset before the answer to so much could be read. */
async function statusOfEndless(url: string): Promise<number | undefined> {
  const sent = request(url, { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } })
  let status: number | undefined
  sent.on('error', () => {})
  sent.on('response', (response) => {
    status = response.statusCode
    response.resume()
  })
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(65_536)
    })(),
  )
  endless.pipe(sent)
  await once(sent, 'close')
  endless.destroy()
  return status
}

it('a body without a token and without an end is not read on', async () => {
  const { root } = createWorkspace()
  const { address } = await startHttp({ rootDir: root })
  let status: number | undefined
  while (status === undefined) status = await statusOfEndless(address.url)
  expect(status).toBe(401)
})

it('a chunked body with a token ends at 4 MiB', async () => {
  const { root } = createWorkspace()
  const { address, rows } = await startHttp({ rootDir: root })
  const { headers } = modernInit(address.token, 'tools/call', read)
  const body = Readable.toWeb(
    Readable.from(Array.from({ length: 80 }, () => Buffer.alloc(65_536, ' '))),
  )
  const init = { method: 'POST', headers: headers ?? {}, body, duplex: 'half' }
  const status = await fetch(address.url, init as RequestInit).then(
    (answer) => answer.status,
    () => 'closed',
  )
  expect([413, 'closed']).toContain(status)
  expect(await rows()).toEqual([])
})

it('a request of two meanings reaches no tool', async () => {
  const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
  const { address, rows } = await startHttp({ rootDir: root })
  const { port } = new URL(address.url)
  const body = modernInit(address.token, 'tools/call', read).body as string
  const socket = connect(Number(port), '127.0.0.1')
  const head = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${address.token}`,
    `Content-Length: ${body.length}`,
    'Transfer-Encoding: chunked',
  ]
  // By one header the body is the call, by the other it is empty and the call another request.
  socket.write(`${head.join('\r\n')}\r\n\r\n0\r\n\r\n${body}`)
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  await once(socket, 'close')
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(await rows()).toEqual([])
})

it('serving changes nothing in the rest of the process', async () => {
  const { root } = createWorkspace()
  const { address } = await startHttp({ rootDir: root })
  await beginSession(address.url, address.token)
  expect(globalThis.Request).toBe(Request)
  expect(globalThis.Response).toBe(Response)
})
