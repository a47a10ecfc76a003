import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resolveToolApproval } from '@smithers/tool-core'
import { expect, it } from 'vitest'
import { type RunningServer, startHttp } from '../fixtures/http-server.ts'
import { modernRequest } from '../fixtures/modern-request.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const args = { command: 'echo ran >> a.txt' }
const yes = { approve: { action: 'accept', content: { approve: true } } }

interface Answered {
  readonly result?: {
    readonly resultType?: string
    readonly requestState?: string
    readonly isError?: boolean
    readonly content?: readonly { readonly text?: string }[]
  }
  readonly error?: { readonly code: number; readonly message: string }
}

function call(
  { address }: RunningServer,
  params: object,
  token: string = address.token,
): Promise<Answered> {
  const all = { name: 'bash', arguments: args, ...params }
  return modernRequest(address.url, token, 'tools/call', all) as Promise<Answered>
}

async function started(): Promise<{ running: RunningServer; file: string; state: string }> {
  const { root } = createWorkspace()
  const running = await startHttp({ rootDir: root, ask: ['bash'] })
  const { result } = await call(running, {})
  const state = result?.requestState ?? ''
  expect(state).toMatch(/^v1\./)
  const file = join(root, 'a.txt')
  expect(existsSync(file)).toBe(false)
  return { running, file, state }
}

it('control: the state and a yes run the call', async () => {
  const { running, file, state } = await started()
  await call(running, { requestState: state, inputResponses: yes })
  expect(readFileSync(file, 'utf8')).toBe('ran\n')
})

it('a state that was changed runs nothing', async () => {
  const { running, file, state } = await started()
  const [version, body = '', mac] = state.split('.')
  const payload = Buffer.from(body, 'base64url').toString().replace('"round":1', '"round":2')
  const forged = [version, Buffer.from(payload).toString('base64url'), mac].join('.')
  for (const requestState of [forged, `${state}x`, 'v1.e30.e30']) {
    const { error } = await call(running, { requestState, inputResponses: yes })
    expect(error).toMatchObject({ code: -32_602, message: 'Invalid or expired requestState' })
  }
  expect(existsSync(file)).toBe(false)
})

it('a state that is too old runs nothing', async () => {
  const { root } = createWorkspace()
  const running = await startHttp({ rootDir: root, ask: ['bash'], questionTtlMs: 1000 })
  const { result } = await call(running, {})
  const answer = { requestState: result?.requestState, inputResponses: yes }
  // Expired states are counted in whole seconds.
  await expect
    .poll(async () => (await call(running, { ...answer, inputResponses: {} })).error?.message, {
      interval: 300,
    })
    .toBe('Invalid or expired requestState')
  await call(running, answer)
  expect(existsSync(join(root, 'a.txt'))).toBe(false)
})

it('the state of one user is worth nothing to another', async () => {
  const { root } = createWorkspace()
  const resource = new URL('http://tools.example/mcp')
  const users: Record<string, string> = { 'token-of-ada': 'ada', 'token-of-eve': 'eve' }
  const oauth = {
    resource,
    verifyAccessToken: async (token: string) => ({
      token,
      clientId: 'the same application',
      scopes: [],
      expiresAt: Math.floor(Date.now() / 1000) + 60,
      resource,
      extra: { sub: users[token] },
    }),
  }
  const running = await startHttp({ rootDir: root, ask: ['bash'] }, { oauth })
  const { result } = await call(running, {}, 'token-of-ada')
  const answer = { requestState: result?.requestState, inputResponses: yes }
  const { error } = await call(running, answer, 'token-of-eve')
  expect(error).toMatchObject({ message: 'Invalid or expired requestState' })
  expect(existsSync(join(root, 'a.txt'))).toBe(false)
  await call(running, answer, 'token-of-ada')
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ran\n')
})

it('a yes for one command does not run another', async () => {
  const { running, file, state } = await started()
  const other = { arguments: { command: 'echo other > a.txt' } }
  const { error } = await call(running, { ...other, requestState: state, inputResponses: yes })
  expect(error?.message).toContain('belongs to another call')
  expect(existsSync(file)).toBe(false)
  expect(await running.log.approvals?.list({ status: 'pending' })).toHaveLength(1)
})

it('an answer that is used again does not run the call again', async () => {
  const { running, file, state } = await started()
  const answer = { requestState: state, inputResponses: yes }
  await call(running, answer)
  await Promise.all([call(running, answer), call(running, answer)])
  expect(readFileSync(file, 'utf8')).toBe('ran\n')
})

it('only a plain yes is a yes', async () => {
  const { running, file, state } = await started()
  for (const content of [{ approve: 'true' }, { approve: 1 }, {}, undefined]) {
    const inputResponses = { approve: { action: 'accept', content } }
    await call(running, { requestState: state, inputResponses })
  }
  expect(existsSync(file)).toBe(false)
})

it('a no of the client holds after a yes elsewhere', async () => {
  const { running, file, state } = await started()
  const [approval] = (await running.log.approvals?.list({})) ?? []
  await resolveToolApproval({ log: running.log, id: approval?.id ?? '', approved: true })
  const no = { approve: { action: 'decline' } }
  const { result } = await call(running, { requestState: state, inputResponses: no })
  expect(result?.isError).toBe(true)
  expect(existsSync(file)).toBe(false)
})
