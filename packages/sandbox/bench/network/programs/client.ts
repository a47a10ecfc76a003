/**
 * What a command does on the network in the benchmark: `node client.ts RAW_PORT HTTP_PORT`. It goes through the tunnels of
 * the proxy that HTTP_PROXY names, or straight where there is none, and prints its figures as JSON.
 */
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'

const [rawPort = 0, httpPort = 0] = process.argv.slice(2).map(Number)
const bulkBytes = 100 * 1024 * 1024
const proxy = URL.parse(process.env['HTTP_PROXY'] ?? '')

/** A connection to a port of the origin. */
async function open(port: number): Promise<Socket> {
  const socket = connect({
    host: '127.0.0.1',
    port: Number(proxy?.port ?? port),
    noDelay: true,
  })
  await once(socket, 'connect')
  if (proxy === null) return socket
  const sender = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const authorization = `Basic ${Buffer.from(sender).toString('base64')}`
  const authority = `127.0.0.1:${port}`
  socket.write(
    `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\nProxy-Authorization: ${authorization}\r\n\r\n`,
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString().startsWith('HTTP/1.1 200')) throw new Error(answer.toString())
  return socket
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

async function download(): Promise<void> {
  const socket = await open(rawPort)
  let left = bulkBytes
  socket.on('data', (bytes) => {
    left -= bytes.length
  })
  socket.write('d')
  await once(socket, 'end')
  socket.end()
  if (left !== 0) throw new Error(`${left} bytes are missing`)
}

async function upload(): Promise<void> {
  const socket = await open(rawPort)
  const chunk = Buffer.alloc(256 * 1024, 'x')
  socket.write('u')
  for (let left = bulkBytes; left > 0; left -= chunk.length) {
    if (!socket.write(chunk)) await once(socket, 'drain')
  }
  await once(socket, 'data')
  socket.destroy()
}

async function roundTrips(count: number): Promise<void> {
  const socket = await open(rawPort)
  // Answered like all that follow, so that it does not arrive with the first of them.
  socket.write('e')
  await once(socket, 'data')
  for (let round = 0; round < count; round++) {
    socket.write('1')
    await once(socket, 'data')
  }
  socket.destroy()
}

async function requests(count: number, connections: number): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(httpPort)))
  await Promise.all(sockets.map((socket) => requestsOn(socket, count / connections)))
}

async function requestsOn(socket: Socket, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agent.createConnection = () => socket
  for (let round = 0; round < count; round++) {
    const request = get({ host: '127.0.0.1', port: httpPort, agent })
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream]
    response.resume()
    await once(response, 'end')
  }
  socket.destroy()
}

// Both sides run at their usual speed only after a while.
await roundTrips(500)
await requests(500, 1)
console.log(
  JSON.stringify({
    download: await seconds(download),
    upload: await seconds(upload),
    roundTrip: (await seconds(() => roundTrips(3_000))) / 3_000,
    request: (await seconds(() => requests(2_000, 1))) / 2_000,
    requestOf16: (await seconds(() => requests(4_000, 16))) / 4_000,
  }),
)
process.exit()
