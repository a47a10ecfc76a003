import { connect } from 'node:net'
import { createMemoryLog } from '@smithers/log-memory'
import { serveViewer } from '@smithers/log-viewer'
import { describe, expect, it, vi } from 'vitest'
import { rawRequest } from '../fixtures/raw-request.ts'
import { addCall, logWithLostPayment } from '../fixtures/sample-log.ts'
import { served } from '../fixtures/served.ts'
import { decision, statusIn, waitingLog } from '../fixtures/waiting-log.ts'

describe('another site that has put our address behind its name', () => {
  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.evil.example:PORT',
    '[::1]:PORT',
  ])('reads nothing under the name %s, not even with the token', async (name) => {
    const viewer = await served({ log: logWithLostPayment() })
    const authorization = `Bearer ${viewer.token}`
    const host = name.replace('PORT', String(viewer.port))
    for (const path of ['/', '/page.js', '/api/runs', '/api/session']) {
      const answer = await rawRequest(viewer.port, { path, headers: { host, authorization } })
      expect(answer.status, path).toBe(421)
      expect(answer.body).not.toContain('run-1')
    }
    // The attack is real: under our own name the same request reads.
    const ours = { host: `127.0.0.1:${viewer.port}`, authorization }
    const control = await rawRequest(viewer.port, { path: '/api/runs', headers: ours })
    expect(control.body).toContain('run-1')
  })

  it('reads nothing with two host names', async () => {
    const viewer = await served({ log: logWithLostPayment() })
    const answer = await sendRaw(viewer.port, [
      'GET /api/runs HTTP/1.1',
      'Host: evil.example',
      `Host: 127.0.0.1:${viewer.port}`,
      `Authorization: Bearer ${viewer.token}`,
      'Connection: close',
    ])
    expect(answer).not.toContain('run-1')
  })

  it('reads nothing with an address as the target of the request', async () => {
    const viewer = await served({ log: logWithLostPayment() })
    const answer = await sendRaw(viewer.port, [
      `GET http://127.0.0.1:${viewer.port}/api/runs HTTP/1.1`,
      'Host: evil.example',
      `Authorization: Bearer ${viewer.token}`,
      'Connection: close',
    ])
    expect(answer).not.toContain('run-1')
  })
})

describe('another site that sends requests from the browser of the user', () => {
  it.each([
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
    { Origin: 'https://127.0.0.1:PORT' },
    { Origin: 'http://127.0.0.1:1' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ])('decides nothing with %j', async (foreign) => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    const headers = {
      host: `127.0.0.1:${viewer.port}`,
      authorization: `Bearer ${viewer.token}`,
      'content-type': 'application/json',
    }
    const request = {
      path: '/api/approvals/decide',
      method: 'POST',
      body: JSON.stringify(decision),
    }
    const [name, value] = Object.entries(foreign)[0] as [string, string]
    const attack = { ...headers, [name]: value.replace('PORT', String(viewer.port)) }
    expect((await rawRequest(viewer.port, { ...request, headers: attack })).status).toBe(403)
    expect(statusIn(log)).toBe('pending')
    // The attack is real: from our own page the same request decides.
    const own = { ...headers, Origin: viewer.origin, 'Sec-Fetch-Site': 'same-origin' }
    expect((await rawRequest(viewer.port, { ...request, headers: own })).status).toBe(200)
    expect(statusIn(log)).toBe('approved')
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
  ])('decides nothing with what a form can send, as %j', async (type) => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    const answer = await rawRequest(viewer.port, {
      path: '/api/approvals/decide',
      method: 'POST',
      headers: {
        host: `127.0.0.1:${viewer.port}`,
        authorization: `Bearer ${viewer.token}`,
        ...(type !== '' && { 'content-type': type }),
      },
      body: JSON.stringify(decision),
    })
    expect(answer.status).toBe(415)
    expect(statusIn(log)).toBe('pending')
  })

  it('decides nothing with a request that a link can make', async () => {
    const log = waitingLog()
    const viewer = await served({ log, decide: true })
    const query = new URLSearchParams({ id: 'approval-1', approved: 'true' })
    const answer = await rawRequest(viewer.port, {
      path: `/api/approvals/decide?${query.toString()}`,
      headers: { host: `127.0.0.1:${viewer.port}`, authorization: `Bearer ${viewer.token}` },
    })
    expect(answer.status).toBe(404)
    expect(statusIn(log)).toBe('pending')
  })
})

describe('another user of the machine', () => {
  it('reads and decides nothing without the token, with a part of it, or with another one', async () => {
    const log = waitingLog()
    addCall(log)
    const viewer = await served({ log, decide: true })
    const { token } = viewer
    const other = await served({ log })
    const guesses = [
      '',
      'Bearer',
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token}x`,
      `Basic ${token}`,
      `Bearer ${other.token}`,
      token,
      `Bearer ${token.toLowerCase()}`,
    ]
    for (const authorization of guesses) {
      const host = `127.0.0.1:${viewer.port}`
      for (const path of [
        '/api/runs',
        '/api/session',
        '/api/changes',
        '/api/export?runId=run-1&format=jsonl',
        `/api/runs?token=${token}`,
        '/api/no-such-thing',
      ]) {
        const answer = await rawRequest(viewer.port, { path, headers: { host, authorization } })
        expect(answer.status, `${path} with ${authorization}`).toBe(401)
        expect(answer.body).not.toContain('run-1')
      }
      const answer = await rawRequest(viewer.port, {
        path: '/api/approvals/decide',
        method: 'POST',
        headers: { host, authorization, 'content-type': 'application/json' },
        body: JSON.stringify(decision),
      })
      expect(answer.status).toBe(401)
    }
    expect(statusIn(log)).toBe('pending')
  })

  it('cannot guess a token of 192 bits, which is new for each viewer', async () => {
    const log = createMemoryLog()
    const viewers = await Promise.all([served({ log }), served({ log })])
    for (const { token } of viewers) expect(Buffer.from(token, 'base64url')).toHaveLength(24)
    expect(viewers[0].token).not.toBe(viewers[1].token)
  })

  it('finds the token in no answer and in nothing that the server prints', async () => {
    const printed: unknown[] = []
    const streams = [process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation((text) => printed.push(text) > 0),
    )
    const log = logWithLostPayment()
    const broken = {
      ...log,
      list: () => Promise.reject(new Error('the log broke: secret-of-the-log')),
    }
    const [viewer, failing] = [await served({ log }), await served({ log: broken })]
    const bodies: string[] = []
    for (const { port, token } of [viewer, failing]) {
      for (const path of [
        '/',
        '/api/session',
        '/api/run?runId=run-1',
        '/api/call?callToken=token-1',
        '/nothing',
      ]) {
        const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` }
        const answer = await rawRequest(port, { path, headers })
        bodies.push(JSON.stringify(answer))
      }
    }
    for (const stream of streams) stream.mockRestore()
    const all = [...bodies, ...printed.map(String)].join('\n')
    expect(all).toContain('order.json')
    expect(all).toContain('LOG_UNAVAILABLE')
    for (const secret of [viewer.token, failing.token, 'secret-of-the-log']) {
      expect(all).not.toContain(secret)
    }
  })
})

describe('other machines', () => {
  it.each([
    '0.0.0.0',
    '::',
    '192.168.1.5',
    'my-machine',
    '127.0.0.1.evil.example',
    '',
    '128.0.0.1',
  ])('are not served: host %j is refused by an error that names an SSH tunnel', async (host) => {
    await expect(serveViewer({ log: createMemoryLog(), host })).rejects.toThrow(/ssh -L/)
  })

  it('are served by none of the hosts that are allowed', async () => {
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2']) {
      const viewer = await served({ log: createMemoryLog(), host })
      expect(viewer.origin).toMatch(/^http:\/\/127\.0\.0\.[12]:\d+$/)
    }
  })
})

describe('a page that frames ours or runs what a model wrote', () => {
  it('is stopped by the headers of every answer, refusals included', async () => {
    const viewer = await served({ log: logWithLostPayment() })
    const host = `127.0.0.1:${viewer.port}`
    for (const [path, name] of [
      ['/', host],
      ['/api/runs', host],
      ['/nothing', host],
      ['/', 'evil.example'],
    ] as const) {
      const { headers } = await rawRequest(viewer.port, { path, headers: { host: name } })
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      )
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(headers['set-cookie']).toBeUndefined()
    }
  })
})

/** Sends lines as they are and returns all that comes back. */
function sendRaw(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
}
