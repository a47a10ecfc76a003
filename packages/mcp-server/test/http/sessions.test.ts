import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startHttp } from '../fixtures/http-server.ts'
import { livingProcess } from '../fixtures/living-process.ts'
import { connectOld, lines, textOf } from '../fixtures/mcp-clients.ts'
import { beginSession } from '../fixtures/raw-session.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const read = { path: 'a.txt' }
const untilStopped = { command: 'touch begun.txt; until [ -e stop.txt ]; do sleep 0.05; done' }

/** A command that does not end by itself, and the command line of its process. */
function endless(): { readonly args: { readonly command: string }; readonly line: string } {
  const seconds = 1_000_000 + Math.floor(Math.random() * 1_000_000)
  return { args: { command: `exec sleep ${seconds}` }, line: `sleep ${seconds}` }
}

describe.each(lines)('%s over HTTP', (_line, connect) => {
  it('is asked, and its yes comes through when no more requests are taken', async () => {
    const { root } = createWorkspace()
    const options = { rootDir: root, ask: ['write'] }
    const { address, rows } = await startHttp(options, { maxRequests: 1 })
    let asked = ''
    const client = await connect(address, {
      answer: ({ message }) => {
        asked = message
        expect(existsSync(join(root, 'a.txt'))).toBe(false)
        return { action: 'accept', content: { approve: true } }
      },
    })
    const result = await client.call('write', { path: 'a.txt', content: 'written\n' })
    expect(textOf(result)).toBe('ok')
    expect(asked).toContain('+written')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('written\n')
    expect((await rows()).map(({ status }) => status)).toEqual(['error', 'success'])
    await client.close()
  })

  it('is told of the progress of a call', async () => {
    const { root } = createWorkspace()
    const { address } = await startHttp({ rootDir: root })
    const client = await connect(address)
    const told: (string | undefined)[] = []
    const call = client.call(
      'bash',
      { command: `echo begun; ${untilStopped.command}` },
      {
        onprogress: ({ message }) => told.push(message),
      },
    )
    await expect.poll(() => told).toContainEqual(expect.stringMatching(/^\d+ s, 6 bytes: begun$/))
    writeFileSync(join(root, 'stop.txt'), '')
    expect(textOf(await call)).toBe('begun\n')
    expect(told[0]).toBe('started')
    await client.close()
  })

  it('leaves no process of a call that it cancels', async () => {
    const { root } = createWorkspace()
    const { address } = await startHttp({ rootDir: root })
    const client = await connect(address)
    const controller = new AbortController()
    const { args, line } = endless()
    const call = client.call('bash', args, { signal: controller.signal })
    const ended = call.catch((error: unknown) => error)
    await expect.poll(() => livingProcess(line)).toBe(true)
    controller.abort()
    expect(await ended).toBeInstanceOf(Error)
    await expect.poll(() => livingProcess(line)).toBe(false)
    await client.close()
  })
})

describe('a session over HTTP', () => {
  it('ends with DELETE, and with it its calls', async () => {
    const { root } = createWorkspace()
    const { address, rows } = await startHttp({ rootDir: root })
    const session = await beginSession(address.url, address.token)
    const { args, line } = endless()
    const answer = session.call(1, 'bash', args).then((response) => response.text())
    await expect.poll(() => livingProcess(line)).toBe(true)
    expect((await session.ask('DELETE')).status).toBe(200)
    await answer
    await expect.poll(() => livingProcess(line)).toBe(false)
    await expect.poll(async () => (await rows())[0]?.status).toBe('error')
    const { status } = await session.send({ id: 2, method: 'tools/list' })
    expect(status).toBe(404)
  })

  it('ends when it has not been used for a time, but not while a call runs', async () => {
    const { root } = createWorkspace()
    const { address } = await startHttp({ rootDir: root }, { sessionIdleMs: 300 })
    const begin = () => beginSession(address.url, address.token)
    let session = await begin()
    let running = await session.call(1, 'bash', untilStopped)
    while (running.status === 404) {
      // A loaded machine was slower than the time.
      session = await begin()
      running = await session.call(1, 'bash', untilStopped)
    }
    const isGone = async ({ id }: { readonly id: string }): Promise<boolean> => {
      const headers = { Authorization: `Bearer ${address.token}`, 'Mcp-Session-Id': id }
      // Without Accept: a session that is there answers 406.
      return (await fetch(address.url, { headers })).status === 404
    }
    const other = await begin()
    await expect.poll(() => isGone(other), { interval: 1000 }).toBe(true)
    expect(await isGone(session)).toBe(false)
    writeFileSync(join(root, 'stop.txt'), '')
    expect(await running.text()).toContain('"result"')
    await expect.poll(() => isGone(session), { interval: 1000 }).toBe(true)
  })

  it('gives way to a new one of its client when there are too many, unless it is used', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const { address } = await startHttp({ rootDir: root }, { maxSessions: 2 })
    const { url, token } = address
    const first = await beginSession(url, token)
    const second = await beginSession(url, token)
    const running = first.call(1, 'bash', untilStopped)
    await expect.poll(() => existsSync(join(root, 'begun.txt'))).toBe(true)
    const third = await beginSession(url, token)
    expect((await second.call(2, 'read', read)).status).toBe(404)
    expect(await (await third.call(2, 'read', read)).text()).toContain('alpha')
    writeFileSync(join(root, 'stop.txt'), '')
    expect(await (await running).text()).toContain('"result"')
    expect(await (await first.call(3, 'read', read)).text()).toContain('alpha')
  })

  it('is not there with maxSessions 0: calls run, and questions wait in the log', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const options = { rootDir: root, ask: ['write'] }
    const { address } = await startHttp(options, { maxSessions: 0 })
    expect((await beginSession(address.url, address.token)).id).toBe('')
    const client = await connectOld(address, { answer: () => ({ action: 'accept' }) })
    expect(textOf(await client.call('read', read))).toBe('alpha\n')
    const waiting = await client.call('write', { path: 'b.txt', content: 'x' })
    expect(textOf(waiting)).toMatch(/waits for approval apr_/)
    expect(existsSync(join(root, 'b.txt'))).toBe(false)
    await client.close()
  })
})
