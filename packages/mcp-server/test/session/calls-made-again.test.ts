import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createMcpServer } from '@smithers/mcp-server'
import { execa } from 'execa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { modernRequest } from '../fixtures/modern-request.ts'
import { serverProgram } from '../fixtures/server-program.ts'
import { initialize, stdioPair } from '../fixtures/stdio-pair.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

interface Answered {
  readonly result: {
    readonly resultType?: string
    readonly requestState?: string
    readonly isError?: boolean
    readonly content?: readonly { readonly text?: string }[]
    readonly inputRequests?: { readonly approve: { readonly params: { readonly message: string } } }
    readonly _meta: { readonly 'smithers/call': Readonly<Record<string, unknown>> }
  }
}

const token = 'the-same-token-for-all'
const stateKey = 'a key that the processes of one address share'
const yes = { approve: { action: 'accept', content: { approve: true } } }

const send = (url: string, params: object): Promise<Answered> =>
  modernRequest(url, token, 'tools/call', params) as Promise<Answered>

/** A call whose question was answered with yes: what the client sends then, once or again. */
async function approved(url: string, command: string): Promise<object> {
  const params = { name: 'bash', arguments: { command } }
  const { result } = await send(url, params)
  return { ...params, requestState: result.requestState, inputResponses: yes }
}

const rowOf = ({ result: { _meta: meta } }: Answered) => meta['smithers/call']

describe('an answered call that the client sends again', () => {
  it('runs no second time when it has succeeded: every process tells its output', async () => {
    const { root, logPath } = createWorkspace()
    const log = createSqliteLog({ path: logPath })
    onTestFinished(() => log.close())
    const options = { rootDir: root, ask: ['bash'], runId: 'shared', stateKey, log }
    const first = await startHttp(options, { token })
    const other = await startHttp(options, { token })
    const call = await approved(first.address.url, 'echo ran >> a.txt; echo said')
    const original = await send(first.address.url, call)
    expect(original.result.content).toMatchObject([{ text: 'said\n' }])
    expect(rowOf(original)).toMatchObject({ outcome: 'success', replayed: false })
    await first.http.close()
    const later = await startHttp(options, { token })
    for (const { address } of [other, later, other]) {
      const again = await send(address.url, call)
      expect(again.result.content).toEqual(original.result.content)
      const { key } = rowOf(original)
      expect(rowOf(again)).toMatchObject({ key, outcome: 'success', replayed: true })
    }
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ran\n')
    const [asked, ran, ...replays] = await log.list({})
    expect([asked?.status, ran?.effect]).toEqual(['error', 'applied'])
    const replay = { status: 'success', effect: 'none' }
    expect(replays).toMatchObject([
      { ...replay, replayOf: ran?.callToken },
      { ...replay, replayOf: expect.any(String) },
      { ...replay, replayOf: expect.any(String) },
    ])
  })

  it('runs no second time when it has failed: the person is asked again, and told that it ran', async () => {
    const { root } = createWorkspace()
    const { address } = await startHttp({ rootDir: root, ask: ['bash'] }, { token })
    const call = await approved(address.url, 'echo ran >> a.txt; exit 3')
    expect(await send(address.url, call)).toMatchObject({ result: { isError: true } })
    for (const again of [await send(address.url, call), await send(address.url, call)]) {
      expect(again.result.resultType).toBe('input_required')
      const message = again.result.inputRequests?.approve.params.message
      expect(message).toContain('This call has run before, and its outcome is unknown.')
    }
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ran\n')
  })

  it('runs no second time when its server was killed in its middle', async () => {
    const { root, folder, logPath } = createWorkspace()
    writeFileSync(join(folder, 'key'), stateKey)
    writeFileSync(join(folder, 'token'), token)
    const files = ['--token-file', join(folder, 'token'), '--state-key-file', join(folder, 'key')]
    const begin = async () => {
      const shared = ['--root', root, '--log', logPath, '--run', 'shared', '--ask', 'bash']
      const { command, args, env } = serverProgram(...shared, '--http', '0', ...files)
      const running = execa(command, args, { env, reject: false })
      onTestFinished(() => void running.kill('SIGKILL'))
      let printed = ''
      running.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
      await expect.poll(() => printed).toContain('\n')
      return { running, url: printed.trim() }
    }
    const killed = await begin()
    const call = await approved(killed.url, 'echo ran >> a.txt; exec sleep 1000')
    const lost = send(killed.url, call).catch((error: unknown) => error)
    // Not when it is there: it could be killed before it has written.
    await expect.poll(() => readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ran\n')
    killed.running.kill('SIGKILL')
    expect(await lost).toBeInstanceOf(Error)

    const next = await begin()
    const { result } = await send(next.url, call)
    expect(result.inputRequests?.approve.params.message).toContain('its outcome is unknown')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('ran\n')
    next.running.kill('SIGTERM')
    expect(await next.running).toMatchObject({ exitCode: 0 })
  })
})

it('the id of a finished request, its key and its token in a request are no call: it is a new one', async () => {
  const { root } = createWorkspace()
  const server = createMcpServer({ rootDir: root })
  const pair = await stdioPair(server)
  await initialize(pair)
  const answers = () => pair.messages.filter(({ id }) => id === 1) as unknown as Answered[]
  const params = { name: 'bash', arguments: { command: 'echo ran >> a.txt; cat a.txt' } }
  pair.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  await expect.poll(answers).toHaveLength(1)
  const [{ result: { _meta: meta } = {} } = {}] = answers() as Partial<Answered>[]
  pair.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } })
  await expect.poll(answers).toHaveLength(2)
  const texts = answers().map(({ result }) => result.content?.[0]?.text)
  expect(texts).toEqual(['ran\n', 'ran\nran\n'])
  const rows = await server.log.list({})
  expect(rows).toMatchObject([{ status: 'success' }, { status: 'success', replayOf: null }])
  expect(new Set(rows.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
  await pair.served.close()
})
