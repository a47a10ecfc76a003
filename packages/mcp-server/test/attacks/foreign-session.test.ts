import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { type RunningServer, startHttp } from '../fixtures/http-server.ts'
import { livingProcess } from '../fixtures/living-process.ts'
import { beginSession } from '../fixtures/raw-session.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const resource = new URL('http://tools.example/mcp')
const users: Readonly<Record<string, string>> = { 'token-of-ada': 'ada', 'token-of-eve': 'eve' }
const oauth = {
  resource,
  verifyAccessToken: async (token: string) => {
    const sub = users[token]
    if (sub === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, 'unknown')
    const expiresAt = Math.floor(Date.now() / 1000) + 60
    return { token, clientId: 'one application', scopes: [], expiresAt, resource, extra: { sub } }
  },
}
const ada = 'token-of-ada'
const eve = 'token-of-eve'

async function started(maxSessions = 64): Promise<RunningServer & { readonly file: string }> {
  const { root } = createWorkspace()
  const running = await startHttp({ rootDir: root, ask: ['bash'] }, { oauth, maxSessions })
  return { ...running, file: join(root, 'a.txt') }
}

/** The id of the question that the server puts on the stream of a call. */
async function questionOn(response: Response): Promise<unknown> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) throw new Error('The call has no answer.')
  for (let text = ''; ;) {
    const { done, value } = await reader.read()
    text += value ?? ''
    const data = /^data: (.*elicitation\/create.*)$/m.exec(text)?.[1]
    if (data !== undefined) return (JSON.parse(data) as { readonly id: unknown }).id
    if (done) throw new Error(`There is no question: ${text}`)
  }
}

it('a session that another user has learned of serves only its own', async () => {
  const { http, file } = await started()
  const session = await beginSession(http.url, ada, { elicitation: {} })
  const call = await session.call(1, 'bash', { command: 'echo ran >> a.txt' })
  const id = await questionOn(call)
  const yes = { id, result: { action: 'accept', content: { approve: true } } }

  expect((await session.send(yes, eve)).status).toBe(404)
  expect((await session.call(2, 'bash', { command: 'echo eve' }, eve)).status).toBe(404)
  expect((await session.ask('GET', eve)).status).toBe(404)
  expect((await session.ask('DELETE', eve)).status).toBe(404)
  expect((await session.ask('DELETE', 'unknown')).status).toBe(401)
  expect(existsSync(file)).toBe(false)

  // Control: the same answer of the one who was asked.
  expect((await session.send(yes)).status).toBe(202)
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBe('ran\n')
})

it('a user with many sessions ends none of another', async () => {
  const { http } = await started(2)
  const session = await beginSession(http.url, ada)
  const others = []
  for (const _ of [1, 2, 3]) others.push(await beginSession(http.url, eve))
  expect(others.map(({ id }) => id !== '')).toEqual([true, true, true])
  expect((await session.send({ id: 1, method: 'tools/list' })).status).toBe(200)
  // Control: her own have made room.
  expect((await others[0]?.send({ id: 1, method: 'tools/list' }))?.status).toBe(404)
})

it('two calls under one id both end with their session', async () => {
  const { root } = createWorkspace()
  const { address } = await startHttp({ rootDir: root })
  const session = await beginSession(address.url, address.token)
  const seconds = 1_000_000 + Math.floor(Math.random() * 1_000_000)
  const lines = [`sleep ${seconds}`, `sleep ${seconds + 1}`]
  const calls = lines.map((line) => session.call(1, 'bash', { command: `exec ${line}` }))
  const ended = Promise.allSettled(calls.map(async (call) => (await call).text()))
  for (const line of lines) await expect.poll(() => livingProcess(line)).toBe(true)
  await session.ask('DELETE')
  await ended
  for (const line of lines) await expect.poll(() => livingProcess(line)).toBe(false)
})
