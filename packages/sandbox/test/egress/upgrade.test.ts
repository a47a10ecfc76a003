import { describe, expect, test } from 'vitest'
import {
  connectHead,
  converse,
  openOrigin,
  openTestProxy,
  type Origin,
  type TestProxy,
} from '../fixtures/egress.ts'

const upgrade = 'Connection: Upgrade\r\nUpgrade: echo\r\n'

/** Agrees to another protocol, in which it sends back what it is sent. */
function openEcho(): Promise<Origin> {
  return openOrigin((socket, text) => {
    const [head = '', ...rest] = text.split('\r\n\r\n')
    if (rest.length === 0) return
    if (head.startsWith('GET /no ')) {
      socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 3\r\nX-Own: 1\r\n\r\nno!')
      return
    }
    if (rest.join('') === '')
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nwelcome ',
      )
    else socket.end(`echo of ${rest.join('')}`)
  })
}

function ask(proxy: TestProxy, url: string, more = ''): string {
  return `GET ${url} HTTP/1.1\r\nHost: elsewhere.test\r\nProxy-Authorization: ${proxy.authorization}\r\n${upgrade}${more}\r\n`
}

describe('a request that becomes another protocol', () => {
  test('leads to the host of its request line, and back', async () => {
    const { port, received } = await openEcho()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    // What is sent before the answer arrives after it.
    const answer = await converse(proxy, `${ask(proxy, `http://good.test:${port}/a`)}early`)
    expect(answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    expect(answer.toLowerCase()).toContain('upgrade: echo')
    expect(answer).toMatch(/\r\n\r\nwelcome echo of early$/)
    const head = (received[0] ?? '').toLowerCase()
    expect(head).toContain(`host: good.test:${port}\r\n`)
    expect(head).not.toContain('proxy-')
    expect(head).not.toContain('elsewhere')
    // Bytes are counted when connections have closed.
    await proxy.close()
    const [decision] = proxy.record.capture().decisions
    expect(decision).toMatchObject({ host: 'good.test', protocol: 'http', allowed: true })
    expect(decision?.bytesReceived).toBeGreaterThan(answer.length - 20)
  })

  test('is answered as the host answers that does not agree', async () => {
    const { port } = await openEcho()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const answer = await converse(proxy, ask(proxy, `http://good.test:${port}/no`))
    expect(answer).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n/)
    expect(answer.toLowerCase()).toContain('x-own: 1')
    expect(answer).toMatch(/no!$/)
  })

  test('is refused like any other', async () => {
    const { port, received } = await openEcho()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const refused = await converse(proxy, ask(proxy, `http://evil.test:${port}/`))
    expect(refused).toMatch(/^HTTP\/1\.1 403 .*x-sandbox-reason: not-allowed/s)
    const unknown = await converse(
      proxy,
      `GET http://good.test:${port}/ HTTP/1.1\r\nHost: good.test\r\n${upgrade}\r\n`,
    )
    expect(unknown).toMatch(/^HTTP\/1\.1 407 /)
    expect(received).toEqual([])
    expect(proxy.dialled).toEqual([])
  })

  test('in a tunnel of plain HTTP leads to the host of the tunnel only', async () => {
    const { port, received } = await openEcho()
    const proxy = await openTestProxy({ allow: ['good.test'], ports: { 80: port } })
    const say = (host: string): Promise<string> =>
      converse(
        proxy,
        `${connectHead(proxy, 'good.test:80')}GET / HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\nearly`,
      )
    expect(await say('evil.test')).toMatch(/HTTP\/1\.1 403 .*x-sandbox-reason: server-name/s)
    expect(received.join('')).toBe('')
    expect(await say('good.test')).toMatch(/HTTP\/1\.1 101 .*welcome echo of early$/s)
    expect(received.join('')).toContain('host: good.test\r\n')
  })

  test('ends when the command ends', async () => {
    const { port, server } = await openEcho()
    const ended = new Promise((resolve) =>
      server.once('connection', (socket) => socket.once('close', resolve)),
    )
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const pending = converse(proxy, ask(proxy, `http://good.test:${port}/`))
    await expect.poll(() => proxy.dialled.length).toBe(1)
    await proxy.close()
    await pending
    await ended
  })
})
