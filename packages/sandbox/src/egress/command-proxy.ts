import { once } from 'node:events'
import { unlink } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { checkAuthorization, type Credentials, newCredentials } from './credentials.ts'
import { denialAnswer } from './denial.ts'
import { readAuthority } from './host.ts'
import type { Judge } from './judge.ts'
import type { ResolvedNetworkLimits } from './network-options.ts'
import { type NetworkDecision, NetworkRecord } from './network-record.ts'
import { forwardRequest, forwardUpgrade } from './plain-http.ts'
import { type InsideTunnel, type ProxyContext, withoutCredentials } from './proxy-context.ts'
import { serveSocks } from './socks.ts'
import { refuseTunnel, runTunnel, writeAnswer } from './tunnel.ts'

/** The proxy of one command. */
export interface CommandProxy {
  readonly socketPath: string
  readonly credentials: Credentials
  readonly record: NetworkRecord
  /** Ends every connection and removes the socket. Idempotent. */
  close(): Promise<void>
}

/** What {@link openCommandProxy} needs. */
export interface CommandProxyOptions {
  readonly judge: Judge
  readonly limits: ResolvedNetworkLimits
  readonly socketPath: string
  readonly onRecord?: ((decision: NetworkDecision) => void) | undefined
}

const socks5 = 5

/**
 * Opens a proxy on a unix socket of one command. It speaks HTTP (CONNECT, absolute requests, upgrades) and SOCKS5, told
 * apart by the first byte.
 *
 * *Guarantees*: a request is answered only when it has the command's own user name and token. All memory and time that a
 * command can take by it is bounded by `limits`.
 */
export async function openCommandProxy(options: CommandProxyOptions): Promise<CommandProxy> {
  const { judge, limits, socketPath, onRecord } = options
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.min(1_000, limits.headerMs),
    insecureHTTPParser: false,
  })
  server.timeout = limits.idleMs
  const sockets = new Set<Socket>()
  const tunnels = new WeakMap<Socket, InsideTunnel>()
  const [accept] = server.listeners('connection') as ((socket: Socket) => void)[]
  const context: ProxyContext = {
    judge,
    limits,
    record: new NetworkRecord(onRecord),
    credentials: newCredentials(),
    own(socket) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    },
    serveInside(client, inside) {
      tunnels.set(client, inside)
      accept?.call(server, client)
      client.resume()
    },
  }
  const http = (client: Socket): void => {
    accept?.call(server, client)
    client.resume()
  }
  server.removeAllListeners('connection')
  server.on('connection', admission(context, http))
  serveHttp(server, tunnels, context)
  server.listen(socketPath)
  await once(server, 'listening')
  return {
    socketPath,
    credentials: context.credentials,
    record: context.record,
    async close() {
      server.close()
      const open = [...sockets]
      const closed = open.map((socket) => once(socket, 'close'))
      for (const socket of open) socket.destroy()
      // Their bytes are counted then.
      await Promise.all(closed)
      await unlink(socketPath).catch(() => {})
    },
  }
}

/** Counts connections, waits for their first byte and chooses the protocol. */
function admission(context: ProxyContext, http: (client: Socket) => void) {
  const { limits, record, own } = context
  let open = 0
  return (client: Socket): void => {
    client.on('error', () => client.destroy())
    own(client)
    if (open >= limits.connections) {
      const decision = {
        ...withoutCredentials(
          { host: null, spelled: 'any', port: 0, protocol: 'connect' },
          'missing',
        ),
        reason: 'too-many-connections',
      } as const
      return writeAnswer(client, denialAnswer(record.add(decision)))
    }
    open += 1
    const timer = setTimeout(() => client.destroy(), limits.headerMs)
    client.once('close', () => {
      open -= 1
      clearTimeout(timer)
    })
    // One that ends before it has said anything waits for nothing, and gives its place to the next.
    const end = (): void => void client.destroy()
    client.once('end', end)
    client.once('data', (first: Buffer) => {
      client.off('end', end)
      client.pause()
      client.unshift(first)
      if (first[0] === socks5) {
        serveSocks(client, context, () => clearTimeout(timer)).catch(() => client.destroy())
        return
      }
      // From here on, the server keeps the time of headers.
      clearTimeout(timer)
      http(client)
    })
  }
}

function serveHttp(
  server: Server,
  tunnels: WeakMap<Socket, InsideTunnel>,
  context: ProxyContext,
): void {
  server.on('request', (request, response) => {
    forwardRequest(request, response, tunnels.get(request.socket), context).catch(() =>
      response.destroy(),
    )
  })
  server.on('upgrade', (request, client, head) => {
    const socket = client as Socket
    if (head.length > 0) socket.unshift(head)
    forwardUpgrade(request, socket, tunnels.get(socket), context).catch(() => socket.destroy())
  })
  server.on('connect', (request, client, head) => {
    const socket = client as Socket
    if (head.length > 0) socket.unshift(head)
    openTunnel(request, socket, tunnels.has(socket), context).catch(() => socket.destroy())
  })
  server.on('clientError', (_error, client) => {
    client.destroy()
  })
}

async function openTunnel(
  { url = '', headers }: IncomingMessage,
  client: Socket,
  isInside: boolean,
  context: ProxyContext,
): Promise<void> {
  const { credentials, judge, record } = context
  client.on('error', () => client.destroy())
  // A proxy behind the host that was judged is not ours to judge.
  if (isInside) return void client.destroy()
  const target = readAuthority(url)
  const [, spelled = url, port = '0'] = /^(.*):([0-9]{1,5})$/s.exec(url) ?? []
  const asked = {
    host: target?.host ?? null,
    spelled,
    port: target?.port ?? Number(port),
    protocol: 'connect',
  } as const
  const sender = checkAuthorization(credentials, headers['proxy-authorization'])
  if (sender !== 'own') {
    return writeAnswer(client, denialAnswer(record.add(withoutCredentials(asked, sender))))
  }
  const judgement = await judge.judge(asked, record)
  if (judgement.host === undefined) return refuseTunnel(client, judgement)
  let upstream: Socket
  try {
    upstream = await judge.connect(judgement.decision)
  } catch {
    return refuseTunnel(client, judgement)
  }
  context.own(upstream)
  if (client.destroyed) return void upstream.destroy()
  client.write('HTTP/1.1 200 Connection established\r\n\r\n')
  await runTunnel(client, upstream, judgement, context)
}
