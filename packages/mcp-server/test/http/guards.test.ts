import { existsSync, writeFileSync } from 'node:fs'
import { createMcpServer, serveHttp, type ServeHttpOptions } from '@smithers/mcp-server'
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { connectNew, lines, textOf } from '../fixtures/mcp-clients.ts'
import { modernInit, modernRequest } from '../fixtures/modern-request.ts'
import { read, sendRead } from '../fixtures/send-read.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

describe('a request over HTTP', () => {
  it('reaches the tools only with our name, no foreign page and the token', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const { address, rows } = await startHttp({ rootDir: root })
    const { url, token } = address
    expect(await sendRead(url, token, {})).toBe(200)
    expect(await rows()).toHaveLength(1)

    expect(await sendRead(url, token, { Host: 'attacker.example' })).toBe(403)
    expect(await sendRead(url, token, { Origin: 'https://attacker.example' })).toBe(403)
    expect(await sendRead(url, token, { Origin: 'null' })).toBe(403)
    expect(await sendRead(url, token, { Origin: 'http://localhost:3000' })).toBe(403)
    expect(await sendRead(url, '', { Authorization: '' })).toBe(401)
    expect(await sendRead(url, `${token}x`, {})).toBe(401)
    expect(await sendRead(url, token.slice(0, -1), {})).toBe(401)
    expect(await sendRead(url.replace('/mcp', '/other'), token, {})).toBe(404)
    expect(await rows()).toHaveLength(1)
  })

  it('may come from a page that is listed', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const { address } = await startHttp({ rootDir: root }, { allowedOrigins: ['app.example'] })
    const origin = { Origin: 'https://app.example' }
    expect(await sendRead(address.url, address.token, origin)).toBe(200)
  })

  it('is refused with 503 when too many are under way', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const { address } = await startHttp({ rootDir: root }, { maxRequests: 1 })
    const slow = modernInit(address.token, 'tools/call', {
      name: 'bash',
      arguments: { command: 'echo x > begun.txt; until [ -e stop.txt ]; do sleep 0.05; done' },
    })
    const running = fetch(address.url, slow)
    await expect.poll(() => existsSync(`${root}/begun.txt`)).toBe(true)
    const refused = await fetch(address.url, modernInit(address.token, 'tools/call', read))
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    writeFileSync(`${root}/stop.txt`, '')
    expect((await running).status).toBe(200)
    await (await running).text()
    const after = await fetch(address.url, modernInit(address.token, 'tools/call', read))
    expect(after.status).toBe(200)
  })

  it('has a body of at most 4 MiB', async () => {
    const { root } = createWorkspace()
    const { address, rows } = await startHttp({ rootDir: root })
    const content = 'x'.repeat(5 * 1024 * 1024)
    const init = modernInit(address.token, 'tools/call', {
      name: 'write',
      arguments: { path: 'a.txt', content },
    })
    expect((await fetch(address.url, init)).status).toBe(413)
    expect(await rows()).toEqual([])
  })
})

describe.each(lines)('%s over HTTP', (_line, connect) => {
  it('lists and calls, each request by itself', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const { address, rows } = await startHttp({ rootDir: root, readOnly: true })
    const client = await connect(address)
    expect((await client.list()).map(({ name }) => name)).toEqual(['glob', 'grep', 'read'])
    expect(textOf(await client.call('read', { path: 'a.txt' }))).toBe('alpha\n')
    expect(await client.resources()).toMatchObject([{ uri: 'smithers-log://runs/current' }])
    expect(client.instructions).toContain('read only')
    expect(await rows()).toHaveLength(1)
    await client.close()
  })
})

describe('a server of other machines', () => {
  it('is refused without a token of its own, and without a name where it has none', async () => {
    const { root } = createWorkspace()
    const server = createMcpServer({ rootDir: root })
    const refused = async (options: Partial<ServeHttpOptions>): Promise<unknown> => {
      const error: unknown = await serveHttp(server, { port: 0, ...options }).catch((e) => e)
      expect(error).toMatchObject({ code: 'INVALID_INPUT' })
      return (error as Error).message
    }
    const token = 'x'.repeat(16)
    expect(await refused({ host: '0.0.0.0' })).toContain('--token-file')
    expect(await refused({ host: '192.0.2.1' })).toContain('not a loopback address')
    expect(await refused({ token: 'short' })).toContain('16 printable')
    for (const host of ['0.0.0.0', '0', '::', '::0', '::ffff:0.0.0.0', '']) {
      expect(await refused({ host, token })).toContain('--allow-host tools.example')
    }
    for (const name of ['https://tools.example', 'tools.example:80', '*', '*.example', '', 'a b']) {
      expect(await refused({ allowedHosts: [name] })).toContain(JSON.stringify(name))
      expect(await refused({ allowedOrigins: [name] })).toContain(JSON.stringify(name))
    }
    await server.close()
  })

  it('verifies access tokens, their audience too, and says where they come from', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const resource = new URL('http://127.0.0.1/mcp')
    const audiences: Record<string, URL> = {
      good: resource,
      'for-another-server': new URL('http://other.example/mcp'),
    }
    const oauth = {
      resource,
      metadata: {
        issuer: 'https://login.example',
        authorization_endpoint: 'https://login.example/authorize',
        token_endpoint: 'https://login.example/token',
        response_types_supported: ['code'],
      },
      verifyAccessToken: async (token: string) => {
        const audience = audiences[token]
        if (audience === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, 'unknown')
        const expiresAt = Math.floor(Date.now() / 1000) + 60
        return { token, clientId: 'app', scopes: [], expiresAt, resource: audience }
      },
    }
    const { http } = await startHttp({ rootDir: root }, { oauth })
    const status = async (token: string): Promise<number> =>
      (await fetch(http.url, modernInit(token, 'tools/call', read))).status
    expect(await status('good')).toBe(200)
    expect(await status('for-another-server')).toBe(401)
    expect(await status('unknown')).toBe(401)
    const document = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', http.url))
    expect(await document.json()).toMatchObject({
      resource: resource.href,
      authorization_servers: ['https://login.example'],
    })
  })
})

it('two servers that share log, run, key and token serve one conversation', async () => {
  const { root } = createWorkspace()
  const shared = {
    rootDir: root,
    ask: ['bash'],
    runId: 'shared',
    stateKey: 'a key of more than thirty-two bytes',
  }
  const token = 'the-same-token-for-both'
  const first = await startHttp(shared, { token })
  const second = await startHttp({ ...shared, log: first.log }, { token })
  const call = { name: 'bash', arguments: { command: 'echo ran >> a.txt' } }
  const asked = (await modernRequest(first.http.url, token, 'tools/call', call)) as {
    readonly result: { readonly requestState: string }
  }
  const answer = {
    ...call,
    requestState: asked.result.requestState,
    inputResponses: { approve: { action: 'accept', content: { approve: true } } },
  }
  expect(await modernRequest(second.http.url, token, 'tools/call', answer)).toMatchObject({
    result: { content: [{ type: 'text', text: '(no output)' }] },
  })
  const client = await connectNew(first.address)
  expect(textOf(await client.call('read', { path: 'a.txt' }))).toBe('ran\n')
  await client.close()
})
