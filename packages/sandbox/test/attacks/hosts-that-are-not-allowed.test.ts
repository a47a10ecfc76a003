import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, test } from 'vitest'
import {
  connectHead,
  converse,
  openOrigin,
  openTestProxy,
  type TestProxy,
} from '../fixtures/egress.ts'

const get = (url: string, authorization: string, more = ''): string =>
  `GET ${url} HTTP/1.1\r\nHost: good.test\r\nProxy-Authorization: ${authorization}\r\n${more}\r\n`

/** Ways to spell what is not an allowed host; each is judged by what reaches the origin. */
const spellings = [
  'evil.test',
  'good.test.evil.test',
  'evilgood.test',
  'good.test@evil.test',
  'good.test%00.evil.test',
  'good.test%2eevil.test',
  'good.test\\.evil.test',
  'good.test#.evil.test',
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0',
  'localhost',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::7f00:1]',
  '[::127.0.0.1]',
  '169.254.169.254',
  '[fe80::1%25lo]',
  'g\u00f6\u00f6d.test',
]

describe('a host that is not allowed', () => {
  test.each(spellings)('is not reached as %s', async (spelling) => {
    const { port, received } = await openOrigin()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const latin = (text: string): Buffer => Buffer.from(text, 'latin1')
    await converse(
      proxy,
      latin(`${connectHead(proxy, `${spelling}:${port}`)}GET / HTTP/1.1\r\n\r\n`),
    )
    await converse(
      proxy,
      latin(get(`http://${spelling}:${port}/`, proxy.authorization, 'Connection: close\r\n')),
    )
    expect(proxy.dialled).toEqual([])
    expect(received).toEqual([])
    // The control: the same requests reach an allowed host.
    await converse(
      proxy,
      get(`http://good.test:${port}/`, proxy.authorization, 'Connection: close\r\n'),
    )
    expect(received).toHaveLength(1)
  })

  test('is not reached by a name that leads to this machine, or changes where it leads', async () => {
    const { port, received } = await openOrigin()
    let turn = 0
    const names = {
      'local.test': ['127.0.0.1'],
      'mixed.test': ['93.184.216.34', '10.0.0.1'],
      'mapped.test': ['::ffff:127.0.0.1'],
      get 'rebinding.test'() {
        return turn++ % 2 === 0 ? ['93.184.216.34'] : ['127.0.0.1']
      },
    }
    const proxy = await openTestProxy({ allow: [`*.test:${port}`], names })
    for (const name of ['local.test', 'mixed.test', 'mapped.test']) {
      const answer = await converse(proxy, connectHead(proxy, `${name}:${port}`))
      expect(answer).toContain('x-sandbox-reason: address-not-public')
    }
    expect(proxy.dialled).toEqual([])
    // The address that was judged is the one that is dialled: the name is not asked again.
    for (let round = 0; round < 4; round++) {
      await converse(
        proxy,
        get(`http://rebinding.test:${port}/`, proxy.authorization, 'Connection: close\r\n'),
      )
    }
    expect(proxy.dialled).toEqual([`93.184.216.34 ${port}`, `93.184.216.34 ${port}`])
    expect(received).toHaveLength(2)
  })

  test('is not reached by a redirect', async () => {
    const evil = await openOrigin()
    const { port } = await openOrigin((socket) =>
      socket.end(
        `HTTP/1.1 302 Found\r\nLocation: http://evil.test:${evil.port}/\r\nContent-Length: 0\r\n\r\n`,
      ),
    )
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const answer = await converse(
      proxy,
      get(`http://good.test:${port}/`, proxy.authorization, 'Connection: close\r\n'),
    )
    expect(answer).toContain(`location: http://evil.test:${evil.port}/`)
    await converse(
      proxy,
      get(`http://evil.test:${evil.port}/`, proxy.authorization, 'Connection: close\r\n'),
    )
    expect(evil.received).toEqual([])
  })

  test('is not reached by a second request on a connection that is kept alive', async () => {
    const { port, received } = await openOrigin((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    )
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const two =
      get(`http://good.test:${port}/first`, proxy.authorization) +
      get(`http://evil.test:${port}/second`, proxy.authorization, 'Connection: close\r\n')
    const answer = await converse(proxy, two)
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403'])
    expect(received).toHaveLength(1)
    expect(received.join('')).not.toContain('second')
  })

  test.each([
    [
      'both lengths',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n',
    ],
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef'],
    ['an odd coding', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['a line feed alone', 'X: a\nY: b\r\n\r\n'],
    ['a folded header', 'X: a\r\n b\r\n\r\n'],
    ['a blank before the colon', 'Content-Length : 5\r\n\r\nabcde'],
  ])('is not reached by a request with %s', async (_, rest) => {
    const { port, received } = await openOrigin()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    await converse(
      proxy,
      `POST http://good.test:${port}/ HTTP/1.1\r\nHost: good.test\r\nProxy-Authorization: ${proxy.authorization}\r\nConnection: close\r\n${rest}`,
      /HTTP/,
    )
    expect(received.join('')).not.toMatch(/evil|xchunked|Length : /i)
    expect(
      received.length === 0 || !/content-length.*transfer-encoding/is.test(received[0] ?? ''),
    ).toBe(true)
  })
})

/** A tunnel to a host on port 443, whose origin listens elsewhere. */
async function tunnel(proxy: TestProxy, authority: string): Promise<Socket> {
  const socket = connect(proxy.socketPath)
  socket.on('error', () => {})
  socket.write(connectHead(proxy, authority))
  await new Promise((resolve) => socket.once('data', resolve))
  return socket
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.resume()
    socket.once('close', () => resolve())
    socket.on('error', () => {})
  })
}

describe('a tunnel', () => {
  test('ends when its TLS greeting asks for another server, which sees nothing', async () => {
    const { port, received } = await openOrigin(() => {})
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const front = connectTls({
      socket: await tunnel(proxy, `good.test:${port}`),
      servername: 'evil.test',
    })
    await closed(front)
    expect(received.join('')).toBe('')
    expect(proxy.record.denials).toMatchObject([
      { reason: 'server-name', host: 'good.test', detail: 'evil.test' },
    ])
    // The control: the same greeting with the right name arrives.
    const right = connectTls({
      socket: await tunnel(proxy, `good.test:${port}`),
      servername: 'GOOD.test',
    })
    right.on('error', () => {})
    await expect.poll(() => received.join('')).toContain('GOOD.test')
    right.destroy()
  })
})

describe('a tunnel to a port that no rule names', () => {
  test('carries TLS and plain HTTP for its host, and nothing else', async () => {
    const { port, received } = await openOrigin((socket, text) => {
      if (text.endsWith('\r\n\r\n')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    const proxy = await openTestProxy({ allow: ['good.test'], ports: { 80: port, 443: port } })
    const say = (bytes: string, at = 80): Promise<string> =>
      converse(proxy, `${connectHead(proxy, `good.test:${at}`)}${bytes}`)
    await say('SSH-2.0-x\r\n')
    await say('\u0001\u0002')
    await say('GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n')
    await say('GET http://evil.test/ HTTP/1.1\r\nHost: good.test\r\nConnection: close\r\n\r\n')
    await say('CONNECT evil.test:443 HTTP/1.1\r\nHost: good.test\r\n\r\n')
    expect(received.join('')).toBe('')
    // The control, with two requests on one connection.
    const first = 'GET /1 HTTP/1.1\r\nHost: good.test\r\n\r\n'
    const answer = await say(
      `${first}GET /2 HTTP/1.1\r\nHost: good.test\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.match(/ok/g)).toHaveLength(2)
    expect(received.filter((text) => text !== '').map((text) => text.slice(0, 6))).toEqual([
      'GET /1',
      'GET /2',
    ])
  })
})

describe('a command', () => {
  test('gets nothing with the token of another command, or none', async () => {
    const { port, received } = await openOrigin()
    const [proxy, other] = [
      await openTestProxy({ allow: [`good.test:${port}`] }),
      await openTestProxy({ allow: [`good.test:${port}`] }),
    ]
    const wrong = await converse(
      proxy,
      connectHead({ ...proxy, authorization: other.authorization }, `good.test:${port}`),
    )
    expect(wrong).toMatch(/^HTTP\/1\.1 407 /)
    const none = await converse(
      proxy,
      `GET http://good.test:${port}/ HTTP/1.1\r\nHost: good.test\r\nConnection: close\r\n\r\n`,
    )
    expect(none).toMatch(/^HTTP\/1\.1 407 /)
    expect(await converse(proxy, Buffer.from([5, 1, 0]))).toBe('\u0005\u00ff')
    expect(received).toEqual([])
    // Only the wrong one is worth a word: clients first ask without one.
    expect(proxy.record.denials).toMatchObject([{ reason: 'credentials', detail: 'wrong' }])
    expect(proxy.record.capture().decisions).toHaveLength(3)
  })

  test('cannot hold connections with slow, huge or missing headers', async () => {
    const proxy = await openTestProxy({
      allow: ['good.test'],
      limits: { headerMs: 50, headerBytes: 1_024, connections: 8 },
    })
    expect(await converse(proxy, '')).toBe('')
    expect(await converse(proxy, 'GET http://good.test/ HTTP/1.1\r\nX: ')).not.toMatch(/200/)
    expect(await converse(proxy, Buffer.from([5]))).toBe('')
    expect(
      await converse(proxy, `GET http://good.test/ HTTP/1.1\r\nX: ${'a'.repeat(5_000)}\r\n\r\n`),
    ).not.toMatch(/200/)
    expect(proxy.dialled).toEqual([])
  })

  test('gets so many connections and no more, and each back that it closes', async () => {
    const { port, received } = await openOrigin()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`], limits: { connections: 8 } })
    const sockets = Array.from({ length: 500 }, () =>
      connect(proxy.socketPath).on('error', () => {}),
    )
    const answers = await Promise.all(
      sockets
        .slice(8)
        .map(
          (socket) =>
            new Promise<string>((resolve) =>
              socket
                .once('data', (data) => resolve(data.toString()))
                .once('close', () => resolve('closed')),
            ),
        ),
    )
    expect(new Set(answers.map((text) => text.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 503']))
    for (const socket of sockets) socket.destroy()
    const request = get(`http://good.test:${port}/`, proxy.authorization, 'Connection: close\r\n')
    await expect.poll(() => converse(proxy, request)).toMatch(/^HTTP\/1\.1 200/)
    expect(received).toHaveLength(1)
  })
})
