/**
 * The server that the benchmark of the network talks to, as a process of its own. It prints its ports as JSON.
 *
 * Raw connections begin with one byte: `d` asks for the bytes of {@link bulkBytes}, `u` says that they follow, `e` that
 * every byte is to be sent back.
 */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

const bulkBytes = 100 * 1024 * 1024
const chunk = Buffer.alloc(256 * 1024, 'x')

function sendAll(socket: Socket): void {
  let left = bulkBytes
  const send = (): void => {
    while (left > 0) {
      const part = chunk.subarray(0, Math.min(left, chunk.length))
      left -= part.length
      if (!socket.write(part)) return void socket.once('drain', send)
    }
    socket.end()
  }
  send()
}

function takeAll(socket: Socket, first: number): void {
  let received = first
  socket.on('data', (bytes) => {
    received += bytes.length
    if (received >= bulkBytes) socket.end('!')
  })
}

const raw = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => {})
  socket.once('data', (first) => {
    const kind = String.fromCharCode(first[0] ?? 0)
    if (kind === 'd') sendAll(socket)
    else if (kind === 'u') takeAll(socket, first.length - 1)
    else socket.on('data', (bytes) => socket.write(bytes)).write(first)
  })
})
const http = createHttpServer({ keepAlive: true }, (request, response) => {
  request.resume()
  response.end('{"name":"left-pad","version":"1.3.0"}')
})
http.keepAliveTimeout = 60_000

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

console.log(JSON.stringify({ raw: await portOf(raw), http: await portOf(http) }))
