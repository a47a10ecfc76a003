import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { createMcpServer } from '@smithers/mcp-server'
import { defineTool, type ToolCallRow } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startHttp } from '../fixtures/http-server.ts'
import { modernRequest } from '../fixtures/modern-request.ts'
import { initialize, stdioPair, type StdioPair } from '../fixtures/stdio-pair.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

interface Attacked {
  readonly pair: StdioPair
  readonly notes: string[]
  call(id: number, name: string, args: unknown): Promise<Record<string, unknown>>
  rows(): Promise<readonly ToolCallRow[]>
}

async function attacked(): Promise<Attacked> {
  const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
  const notes: string[] = []
  const echo = defineTool({
    name: 'echo',
    schema: z.object({ text: z.string().optional() }).loose(),
    acceptsContext: true,
    execute: (given) => ({ given, polluted: ({} as { isAdmin?: unknown }).isAdmin ?? null }),
  })
  const tools = { ...createBuiltinTools({ rootDir: root }), echo }
  const server = createMcpServer({ rootDir: root, tools, warn: (note) => notes.push(note) })
  const pair = await stdioPair(server)
  await initialize(pair)
  const request = (id: number, name: string, args: unknown): void => {
    const params = { name, arguments: args }
    pair.send({ jsonrpc: '2.0', id, method: 'tools/call', params })
  }
  return {
    pair,
    notes,
    call: (id, name, args) => {
      request(id, name, args)
      return pair.answer(id)
    },
    rows: async () => server.log.list({ limit: 10_000 }),
  }
}

describe('a client that sends what no client should', () => {
  it('malformed JSON and a batch leave the connection as it was', async () => {
    const { pair, call, notes } = await attacked()
    pair.send('{"jsonrpc":"2.0","id":1,"method":\n')
    pair.send('not json at all\u001B[2J\n')
    pair.send('[{"jsonrpc":"2.0","id":2,"method":"tools/list"}]\n')
    pair.send('{"id":3}\n')
    expect(await call(4, 'read', { path: 'a.txt' })).toMatchObject({
      result: { content: [{ text: 'alpha\n' }] },
    })
    expect(notes.join('\n')).not.toContain('\u001B')
    await pair.served.close()
  })

  it('an argument of 10 MB is refused by the tool, with a row', async () => {
    const { pair, call, rows } = await attacked()
    const content = 'x'.repeat(10 * 1024 * 1024)
    expect(await call(1, 'write', { path: 'big.txt', content })).toMatchObject({
      result: {
        isError: true,
        content: [{ text: expect.stringMatching(/^\[TOOL_CONTENT_TOO_LARGE\]/) }],
      },
    })
    expect(await rows()).toMatchObject([{ toolName: 'write', status: 'error' }])
    expect(await call(2, 'read', { path: 'a.txt' })).toMatchObject({ result: {} })
    await pair.served.close()
  })

  it('1 000 calls at once are all answered, each with its row', async () => {
    const { pair, call, rows } = await attacked()
    const ids = Array.from({ length: 1000 }, (_, index) => index + 1)
    const answers = await Promise.all(ids.map((id) => call(id, 'read', { path: 'a.txt' })))
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1000)
    expect(await rows()).toHaveLength(1000)
    await pair.served.close()
  })

  it('__proto__ in arguments pollutes nothing', async () => {
    const { pair } = await attacked()
    const params =
      '{"name":"echo","arguments":{"text":"x","__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}}'
    pair.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}\n`)
    expect(await pair.answer(1)).toMatchObject({
      result: { structuredContent: { polluted: null } },
    })
    expect(({} as { isAdmin?: unknown }).isAdmin).toBe(undefined)
    await pair.served.close()
  })

  it('a name with a line end is shown on one line, and names no tool of Object', async () => {
    const { pair, call, rows } = await attacked()
    const answer = await call(1, 'read\n\u001B[31mfake line', {})
    expect(answer).toMatchObject({ error: { code: -32_602 } })
    const { message } = answer['error'] as { readonly message: string }
    expect(message).toContain('Unknown tool "read\\u000a\\u001b[31mfake line"')
    for (const [index, name] of ['__proto__', 'constructor', 'toString', ''].entries()) {
      expect(await call(index + 2, name, {})).toMatchObject({ error: { code: -32_602 } })
    }
    expect(await rows()).toHaveLength(5)
    await pair.served.close()
  })

  it('arguments that are no object reach no tool, and have a row', async () => {
    const { pair, call, rows } = await attacked()
    const odd = ['text', 7, [1], null, false]
    for (const [index, args] of odd.entries()) {
      expect(await call(index + 1, 'echo', args)).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringMatching(/^\[INVALID_INPUT\]/) }] },
      })
    }
    expect(await call(9, 'no_such_tool', 'text')).toMatchObject({ error: { code: -32_602 } })
    expect(await rows()).toMatchObject([
      ...odd.map((args) => ({ status: 'error', inputJson: JSON.stringify(args) })),
      { toolName: 'no_such_tool', status: 'error' },
    ])
    await pair.served.close()
  })

  it('arguments that are no object have a row in protocol 2026-07-28 too', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const { address, rows } = await startHttp({ rootDir: root })
    const params = { name: 'read', arguments: ['a.txt'] }
    expect(await modernRequest(address.url, address.token, 'tools/call', params)).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringMatching(/^\[INVALID_INPUT\]/) }] },
    })
    expect(await rows()).toMatchObject([{ toolName: 'read', status: 'error' }])
  })
})

describe('a client that asks for what it should not have', () => {
  it('an address of a resource leads to no file, no host and no row of another run', async () => {
    const seen: string[] = []
    const listener = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.end('leaked')
    })
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const { port } = listener.address() as AddressInfo
    const { pair } = await attacked()
    const uris = [
      'file:///etc/passwd',
      'file:///%2e%2e/%2e%2e/etc/passwd',
      'smithers-log://calls/../../etc/passwd',
      'smithers-log://calls/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
      'smithers-log://calls/',
      "smithers-log://calls/' OR '1'='1",
      'smithers-log://runs/other',
      `http://127.0.0.1:${port}/read`,
      `smithers-log://127.0.0.1:${port}/read`,
      '\u001B[2J',
    ]
    for (const [index, uri] of uris.entries()) {
      pair.send({ jsonrpc: '2.0', id: index + 1, method: 'resources/read', params: { uri } })
      const answer = await pair.answer(index + 1)
      expect(answer).toMatchObject({ error: { code: -32_602 } })
      const { message } = answer['error'] as { readonly message: string }
      expect(message).not.toMatch(/root:|leaked/)
      expect(message).not.toContain('\u001B')
    }
    expect(seen).toEqual([])
    await pair.served.close()
    listener.close()
  })

  it('arguments of 50 000 levels have an answer, and the next call too', async () => {
    const { pair, call } = await attacked()
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const params = `{"name":"echo","arguments":{"text":"x","deep":${deep}}}`
    pair.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}\n`)
    expect(await pair.answer(1)).toMatchObject({ id: 1 })
    expect(await call(2, 'read', { path: 'a.txt' })).toMatchObject({
      result: { content: [{ text: 'alpha\n' }] },
    })
    await pair.served.close()
  })

  it('writes that are cancelled leave a whole file, and no other', async () => {
    const { root } = createWorkspace({ 'a.txt': '0'.repeat(200_000) })
    const pair = await stdioPair(createMcpServer({ rootDir: root, warn() {} }))
    await initialize(pair)
    for (let id = 1; id <= 40; id += 1) {
      const content = String(id % 10).repeat(200_000)
      const params = { name: 'write', arguments: { path: 'a.txt', content } }
      pair.send({ jsonrpc: '2.0', id, method: 'tools/call', params })
      for (let turn = 0; turn < id; turn += 1) await new Promise(setImmediate)
      pair.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
    }
    await pair.served.close()
    const text = readFileSync(`${root}/a.txt`, 'utf8')
    expect(text).toHaveLength(200_000)
    expect(new Set(text).size).toBe(1)
    expect(readdirSync(root)).toEqual(['a.txt'])
  })
})
