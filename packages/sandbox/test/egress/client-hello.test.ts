import { once } from 'node:events'
import { connect as connectTcp, createServer, type AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { beforeAll, describe, expect, test } from 'vitest'
import { readFirstBytes } from '../../src/egress/client-hello.ts'

/** What Node's own TLS client begins with. */
async function greeting(servername: string | undefined): Promise<Buffer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const { port } = server.address() as AddressInfo
  const client = connect({
    socket: connectTcp(port, '127.0.0.1'),
    ...(servername === undefined ? {} : { servername }),
  })
  client.on('error', () => {})
  const [socket] = (await accepted) as [import('node:net').Socket]
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

describe('the first bytes of a tunnel', () => {
  let hello: Buffer
  beforeAll(async () => {
    hello = await greeting('example.com')
  })

  test('tell the server that a client asks for', async () => {
    expect(readFirstBytes(hello)).toEqual({ kind: 'tls', serverName: 'example.com' })
    expect(readFirstBytes(await greeting(undefined))).toEqual({ kind: 'tls', serverName: null })
  })

  test('are not enough until the greeting is complete', () => {
    for (let length = 0; length < hello.length; length++) {
      expect(readFirstBytes(hello.subarray(0, length)).kind).toBe('more')
    }
  })

  test('are read across records', () => {
    const body = hello.subarray(5)
    const record = (part: Buffer): Buffer =>
      Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part])
    const parts = [body.subarray(0, 1), body.subarray(1, 60), body.subarray(60)]
    expect(readFirstBytes(Buffer.concat(parts.map(record)))).toEqual({
      kind: 'tls',
      serverName: 'example.com',
    })
    const many = Array.from(body, (byte) => record(Buffer.from([byte])))
    expect(readFirstBytes(Buffer.concat(many)).kind).toBe('malformed')
  })

  test('are other than TLS, or malformed', () => {
    expect(readFirstBytes(Buffer.from('GET / HTTP/1.1')).kind).toBe('other')
    expect(readFirstBytes(Buffer.from([22, 9, 9])).kind).toBe('other')
    expect(readFirstBytes(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])).kind).toBe('malformed')
    const cut = Buffer.from(hello)
    // The length of the server name's list.
    const at = cut.indexOf('example.com') - 5
    cut.writeUInt16BE(cut.readUInt16BE(at) + 1, at)
    expect(readFirstBytes(cut).kind).toBe('malformed')
  })
})
