import { expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { modernInit } from '../fixtures/modern-request.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const page = 'https://app.example'

/** Asks as a browser does before a page may send its token. */
function preflight(url: string, origin: string): Promise<Response> {
  const headers = {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'authorization,content-type,mcp-session-id',
  }
  return fetch(url, { method: 'OPTIONS', headers })
}

it('a listed page may send its token, and read the answer and the session', async () => {
  const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
  const { address } = await startHttp({ rootDir: root }, { allowedOrigins: ['app.example'] })
  const { status, headers } = await preflight(address.url, page)
  expect(status).toBe(204)
  expect(headers.get('access-control-allow-origin')).toBe(page)
  expect(headers.get('access-control-allow-headers')).toContain('authorization')
  expect(headers.get('access-control-allow-methods')).toContain('POST')

  const call = { name: 'read', arguments: { path: 'a.txt' } }
  const init = modernInit(address.token, 'tools/call', call)
  const sent = { ...init, headers: { ...(init.headers as Record<string, string>), Origin: page } }
  const answer = await fetch(address.url, sent)
  expect(answer.headers.get('access-control-allow-origin')).toBe(page)
  expect(answer.headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id')
  expect(await answer.text()).toContain('alpha')
})

it('any other page is told nothing that a browser would let through', async () => {
  const { root } = createWorkspace()
  const { address } = await startHttp({ rootDir: root }, { allowedOrigins: ['app.example'] })
  for (const origin of ['https://attacker.example', 'https://app.example.attacker.example']) {
    const { status, headers } = await preflight(address.url, origin)
    expect(status).toBe(403)
    expect(headers.get('access-control-allow-origin')).toBe(null)
  }
  expect((await fetch(address.url, { method: 'OPTIONS' })).status).toBe(401)
})
