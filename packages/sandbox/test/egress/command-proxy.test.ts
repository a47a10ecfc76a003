import { describe, expect, test } from 'vitest'
import {
  connectHead,
  converse,
  openOrigin,
  openTestProxy,
  publicAddress,
} from '../fixtures/egress.ts'

const get = (url: string, authorization: string, more = ''): string =>
  `GET ${url} HTTP/1.1\r\nHost: elsewhere.test\r\nProxy-Authorization: ${authorization}\r\n${more}Connection: close\r\n\r\n`

describe('the proxy of a command', () => {
  test('sends a plain request to the host in its request line', async () => {
    const { port, received } = await openOrigin()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const answer = await converse(
      proxy,
      get(
        `http://good.test:${port}/a?b`,
        proxy.authorization,
        'X-Own: 1\r\nTE: trailers\r\nX-Hop: 2\r\nConnection: x-hop\r\n',
      ),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(answer).toMatch(/hello$/)
    expect(received).toHaveLength(1)
    const lines = (received[0] ?? '').toLowerCase().split('\r\n')
    expect(lines[0]).toBe('get /a?b http/1.1')
    expect(lines).toContain(`host: good.test:${port}`)
    expect(lines).toContain('x-own: 1')
    expect(lines.filter((line) => /^(proxy-|te:|x-hop|host: elsewhere)/.test(line))).toEqual([])
    expect(proxy.dialled).toEqual([`${publicAddress} ${port}`])
    // Bytes are counted when connections have closed.
    await proxy.close()
    const [decision] = proxy.record.capture().decisions
    expect(decision).toMatchObject({
      host: 'good.test',
      port,
      protocol: 'http',
      allowed: true,
      rule: `good.test:${port}`,
      addresses: [publicAddress],
      bytesSent: (received[0] ?? '').length,
    })
    expect(decision?.bytesReceived).toBeGreaterThan(40)
  })

  test('passes the body of a request on, and its answer', async () => {
    const { port, received } = await openOrigin((socket, text) => {
      if (text.endsWith('0\r\n\r\n'))
        socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n')
    })
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const answer = await converse(
      proxy,
      `POST http://good.test:${port}/ HTTP/1.1\r\nHost: good.test\r\nTransfer-Encoding: chunked\r\nProxy-Authorization: ${proxy.authorization}\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    )
    expect(answer).toContain('ok')
    expect(received[0]).toContain('3\r\nabc\r\n0\r\n\r\n')
  })

  test('opens a tunnel for any protocol where a rule names the port, also if the host begins', async () => {
    const { port, received, server } = await openOrigin((socket) => socket.end('bye'))
    server.on('connection', (socket) => socket.write('220 ready\r\n'))
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const greeting = await converse(proxy, connectHead(proxy, `good.test:${port}`), /220 ready/)
    expect(greeting).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n220 ready/)
    const whole = await converse(
      proxy,
      `${connectHead(proxy, `good.test:${port}`)}\u0001anything`,
      /bye/,
    )
    expect(whole).toMatch(/bye$/)
    expect(received.at(-1)).toBe('\u0001anything')
  })

  test('serves SOCKS5 with the same judgement', async () => {
    const { port, received } = await openOrigin((socket) => socket.end('bye'))
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const ask = (name: string, command = 1): Promise<string> => {
      const { user, token } = proxy.credentials
      const part = (text: string): Buffer =>
        Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
      return converse(
        proxy,
        Buffer.concat([
          Buffer.from([5, 2, 0, 2, 1]),
          part(user),
          part(token),
          Buffer.from([5, command, 0, 3]),
          part(name),
          Buffer.from([port >> 8, port & 255]),
          Buffer.from('raw'),
        ]),
        /bye$/,
      )
    }
    expect(await ask('good.test')).toBe('\u0005\u0002\u0001\0\u0005\0\0\u0001\0\0\0\0\0\0bye')
    expect(received).toEqual(['raw'])
    expect((await ask('evil.test')).slice(4, 6)).toBe('\u0005\u0002')
    expect((await ask('good.test', 2)).slice(4, 6)).toBe('\u0005\u0007')
    expect((await ask('good.test', 3)).slice(4, 6)).toBe('\u0005\u0007')
    expect(received).toHaveLength(1)
  })

  test('explains a refusal in the answer and in the record', async () => {
    const proxy = await openTestProxy({ allow: ['good.test'] })
    const answer = await converse(proxy, connectHead(proxy, 'evil.test:443'))
    // Of an answer to CONNECT, many clients print the first line alone.
    expect(answer.split('\r\n', 1)).toEqual([
      'HTTP/1.1 403 Blocked by the sandbox: evil.test:443 is not in network.allow',
    ])
    expect(answer).toContain('x-sandbox-denied: 1')
    expect(answer).toContain('x-sandbox-reason: not-allowed')
    expect(answer).toContain('Blocked by the sandbox: evil.test:443 is not in network.allow.')
    expect(answer).toContain('can add "evil.test" to network.allow')
    expect(proxy.record.denials).toMatchObject([{ host: 'evil.test', port: 443, allowed: false }])
    expect(proxy.resolved).toEqual([])
  })

  test('shows the reason of onDecision, on one line', async () => {
    const { port, received } = await openOrigin()
    const proxy = await openTestProxy({
      allow: [`good.test:${port}`],
      onDecision: ({ host }) => ({ deny: `Mia said no\r\nto ${host}.` }),
    })
    for (const host of ['good.test', 'other.test']) {
      const answer = await converse(proxy, get(`http://${host}:${port}/`, proxy.authorization))
      expect(answer).toContain(`${host}:${port} is refused. Mia said no to ${host}.`)
    }
    expect(received).toEqual([])
    expect(proxy.record.denials.map(({ reason }) => reason)).toEqual([
      'refused-by-callback',
      'refused-by-callback',
    ])
  })

  test.each(['ask', null, 1, {}])(
    'takes the answer %j of onDecision for a refusal',
    async (given) => {
      const { port, received } = await openOrigin()
      const proxy = await openTestProxy({
        allow: [`good.test:${port}`],
        onDecision: () => given as never,
      })
      const answer = await converse(proxy, get(`http://good.test:${port}/`, proxy.authorization))
      expect(answer.slice(9, 12)).toBe('403')
      expect(received).toEqual([])
    },
  )

  test('asks onDecision, whose error refuses', async () => {
    const { port } = await openOrigin()
    const asked: string[] = []
    const proxy = await openTestProxy({
      allow: [`good.test:${port}`, `bad.test:${port}`],
      deny: ['denied.test'],
      onDecision: async ({ host, allowed }) => {
        asked.push(`${host} ${allowed}`)
        if (host === 'bad.test') throw new Error('no')
        return host === 'good.test' ? undefined : 'allow'
      },
    })
    const status = async (host: string): Promise<string> =>
      (await converse(proxy, get(`http://${host}:${port}/`, proxy.authorization))).slice(9, 12)
    expect(await status('good.test')).toBe('200')
    expect(await status('bad.test')).toBe('403')
    expect(await status('other.test')).toBe('200')
    expect(await status('denied.test')).toBe('403')
    expect(asked).toEqual([
      'good.test true',
      'bad.test true',
      'other.test false',
      'denied.test false',
    ])
  })

  test('keeps at most 200 decisions, and every refused host apart from them', async () => {
    const { port } = await openOrigin()
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    for (let round = 0; round < 205; round++) {
      await converse(proxy, get(`http://good.test:${port}/`, proxy.authorization))
    }
    await converse(proxy, connectHead(proxy, 'evil.test:443'))
    const { decisions, omitted } = proxy.record.capture()
    expect([decisions.length, omitted]).toEqual([200, 6])
    expect(proxy.record.denials).toMatchObject([{ host: 'evil.test' }])
  })

  test('ends every connection when it is closed', async () => {
    const { port, received } = await openOrigin(() => {})
    const proxy = await openTestProxy({ allow: [`good.test:${port}`] })
    const pending = converse(proxy, `${connectHead(proxy, `good.test:${port}`)}raw`)
    const early = converse(proxy, 'GET http')
    // Not when it was dialled: the answer to the command comes later than that.
    await expect.poll(() => received).toEqual(['raw'])
    await proxy.close()
    expect(await pending).toMatch(/^HTTP\/1\.1 200/)
    expect(await early).toBe('')
    expect(
      await converse(proxy, connectHead(proxy, `good.test:${port}`)).catch(() => 'closed'),
    ).toBe('closed')
  })
})
