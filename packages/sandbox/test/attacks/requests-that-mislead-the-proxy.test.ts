import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import {
  connectHead,
  converse,
  openOrigin,
  openTestProxy,
  type TestProxy,
} from '../fixtures/egress.ts'

const tunnel = (proxy: TestProxy, line: string, more: string): string =>
  `CONNECT ${line} HTTP/1.1\r\nProxy-Authorization: ${proxy.authorization}\r\n${more}\r\n`

/** Unlike `once`, it does not mind a reset. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

/** A request for a name by SOCKS5, with bytes for the host. */
function bySocks({ credentials: { user, token } }: TestProxy, name: Buffer, port: number): Buffer {
  const part = (text: string | Buffer): Buffer =>
    Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
  return Buffer.concat([
    Buffer.from([5, 1, 2, 1]),
    part(user),
    part(token),
    Buffer.from([5, 1, 0, 3]),
    part(name),
    Buffer.from([port >> 8, port & 255]),
    Buffer.from('raw'),
  ])
}

describe('the host of a tunnel', () => {
  test('is that of the request line, whatever the header Host says', async () => {
    const { port, received } = await openOrigin((socket, text) => socket.end(`got ${text}`))
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const refused = tunnel(proxy, `evil.test:${port}`, `Host: good.test:${port}\r\n`)
    expect(await converse(proxy, `${refused}raw`)).toMatch(/^HTTP\/1\.1 403 /)
    expect(received).toEqual([])
    const right = tunnel(proxy, `good.test:${port}`, `Host: evil.test:${port}\r\n`)
    expect(await converse(proxy, `${right}raw`)).toMatch(/got raw$/)
    expect(proxy.dialled).toEqual([`93.184.216.34 ${port}`])
    expect(proxy.resolved).toEqual(['good.test'])
  })

  test.each([
    ['a line of its own', 'good.test:443\r\nX-Injected: 1\r\nHost: x'],
    ['a second host', 'good.test:443 evil.test:443'],
    ['two ports', 'good.test:443:443'],
    ['no port', 'good.test'],
    ['port 0', 'good.test:0'],
    ['a port that wraps', 'good.test:65979'],
    ['a path', 'good.test:443/evil.test'],
    ['a user', 'evil.test:443@good.test:443'],
  ])('is not found in a request line with %s', async (_, line) => {
    const { port, received } = await openOrigin((socket, text) => socket.end(`got ${text}`))
    const proxy = await openTestProxy({ allow: ['good.test:*'], ports: { 443: port } })
    await converse(proxy, `${tunnel(proxy, line, '')}raw`, /HTTP/)
    expect(received.join('')).not.toMatch(/injected|evil/i)
    // Where an injected line is one of the request to the proxy, it stays there.
    expect(proxy.dialled.filter((dialled) => !dialled.endsWith(' 443'))).toEqual([])
    expect(proxy.resolved.filter((name) => name !== 'good.test')).toEqual([])
  })

  test.each([
    ['NUL', 'good.test\0.evil.test'],
    ['a line end', 'good.test\r\nHost: evil.test'],
    ['a blank', 'good.test evil.test'],
    ['a user', 'good.test@evil.test'],
    ['the form of an address', '::ffff:127.0.0.1'],
    ['nothing', ''],
  ])('is not a name by SOCKS5 with %s', async (_, name) => {
    const { port, received } = await openOrigin((socket) => socket.end('bye'))
    const proxy = await openTestProxy({ allow: [`good.test:${port}`, `*.good.test:${port}`] })
    await converse(proxy, bySocks(proxy, Buffer.from(name, 'latin1'), port))
    expect([proxy.resolved, proxy.dialled, received]).toEqual([[], [], []])
    // The control.
    expect(await converse(proxy, bySocks(proxy, Buffer.from('good.test'), port))).toMatch(/bye$/)
  })
})

describe('a name that is not allowed', () => {
  test('is never asked about, so that questions carry nothing out', async () => {
    const proxy = await openTestProxy({ allow: ['good.test'] })
    const secret = `${Buffer.from('a secret').toString('hex')}.evil.test`
    await converse(proxy, connectHead(proxy, `${secret}:443`))
    await converse(proxy, bySocks(proxy, Buffer.from(secret), 443))
    await converse(
      proxy,
      `GET http://${secret}/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${proxy.authorization}\r\nConnection: close\r\n\r\n`,
    )
    expect(proxy.resolved).toEqual([])
    expect(proxy.record.capture().decisions).toHaveLength(3)
    // The control: an allowed name is.
    await converse(proxy, connectHead(proxy, 'good.test:443'), /HTTP/)
    expect(proxy.resolved).toEqual(['good.test'])
  })
})

describe('a connection', () => {
  test('ends in time though its header arrives byte by byte', async () => {
    const { port, received } = await openOrigin()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`], limits: { headerMs: 300 } })
    const slow = connect(proxy.socketPath).on('error', () => {})
    const head = connectHead(proxy, `good.test:${port}`)
    let sent = 0
    const timer = setInterval(() => slow.write(head[sent++] ?? 'x'), 20)
    slow.resume()
    await closed(slow)
    clearInterval(timer)
    expect(sent).toBeLessThan(head.length)
    expect([proxy.dialled, received]).toEqual([[], []])
    // The control: at once, it is served. On a busy machine even that may take too long for a first time.
    await expect.poll(() => converse(proxy, `${head}raw`)).toMatch(/hello$/)
  })

  test('of which one side has ended still carries the other, and ends when nothing comes', async () => {
    const { port, server } = await openOrigin((socket, text) => {
      if (text === 'answer me') setImmediate(() => socket.end('here'))
    })
    const allow = [`good.test:${port}`]
    const proxy = await openTestProxy({ allow, limits: { idleMs: 300 } })
    const say = (words: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect({ path: proxy.socketPath, allowHalfOpen: true })
        let text = ''
        socket.on('data', (chunk) => (text += chunk.toString('latin1')))
        socket.on('error', () => {}).on('close', () => resolve(text))
        socket.on('end', () => socket.end())
        socket.end(`${connectHead(proxy, `good.test:${port}`)}${words}`)
      })
    // On a busy machine a moment without a byte may last too long for a first time.
    await expect.poll(() => say('answer me')).toMatch(/here$/)
    const gone = new Promise((resolve) =>
      server.once('connection', (socket) => socket.once('close', resolve)),
    )
    await say('say nothing')
    await gone
  })

  test('is served after 10 000 others, which leave nothing open', async () => {
    const { port, received, server } = await openOrigin()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`], limits: { connections: 16 } })
    for (let round = 0; round < 50; round++) {
      const sockets = Array.from({ length: 200 }, () =>
        connect(proxy.socketPath).on('error', () => {}),
      )
      // Those of the round before may still have their places, so it may be any 16 of these that get one.
      let refused = 0
      await new Promise<void>((resolve) => {
        for (const socket of sockets) {
          socket.resume().once('close', () => (refused += 1) === 184 && resolve())
        }
      })
      for (const socket of sockets) socket.destroy()
    }
    const request = `GET http://good.test:${port}/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${proxy.authorization}\r\nConnection: close\r\n\r\n`
    await expect.poll(() => converse(proxy, request)).toMatch(/hello$/)
    expect(received).toHaveLength(1)
    expect(proxy.record.capture().omitted).toBeGreaterThan(9_000)
    expect(proxy.record.denials).toHaveLength(1)
    await proxy.close()
    await expect.poll(() => new Promise((done) => server.getConnections((_, n) => done(n)))).toBe(0)
  })
})

describe('the line of a refusal', () => {
  test('stays one line, in ASCII, whatever was asked for and answered', async () => {
    const proxy = await openTestProxy({
      allow: [],
      onDecision: () => ({ deny: 'Not today\r\nX-Injected: 1\r\n\r\n\u{1f512}. Later' }),
    })
    const answers = await Promise.all(
      ['evil.test:443', `${'a'.repeat(3_000)}.test:443`].map((authority) =>
        converse(proxy, Buffer.from(connectHead(proxy, authority), 'latin1')),
      ),
    )
    for (const answer of answers) {
      const [head = ''] = answer.split('\r\n\r\n', 1)
      expect(head).toMatch(/^HTTP\/1\.1 40[03] Blocked by the sandbox: [ -~]{1,300}\r\n/)
      expect(head).not.toMatch(/^x-injected/im)
    }
  })
})
