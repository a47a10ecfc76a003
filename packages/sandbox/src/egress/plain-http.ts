import {
  type ClientRequest,
  type IncomingMessage,
  request as requestUpstream,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { checkAuthorization } from './credentials.ts'
import { denialAnswer, type DenialAnswer } from './denial.ts'
import { readAuthority, readUrlHost } from './host.ts'
import type { Judgement } from './judge.ts'
import {
  countBytes,
  type InsideTunnel,
  type ProxyContext,
  withoutCredentials,
} from './proxy-context.ts'
import { hostHeader, writeAnswer } from './tunnel.ts'

/** Headers for the next hop only. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
])

/** A plain request after it was judged. */
interface JudgedRequest {
  readonly judgement: Judgement
  readonly path: string
  readonly upstream: Socket
}

/**
 * Sends one plain HTTP request to the host that was judged for it.
 *
 * *Guarantees*: the header `Host` is the judged host's, the framing of the body is written anew from what the strict
 * parser read, and headers for the proxy stay here. Each request is judged, also on a connection that is kept alive.
 */
export async function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  inside: InsideTunnel | undefined,
  context: ProxyContext,
): Promise<void> {
  const judged = await judgeRequest(request, inside, context)
  if (!('judgement' in judged)) {
    const { status, statusText, headers, body } = judged
    response.writeHead(status, statusText, headers).end(body)
    return
  }
  const { upstream, judgement } = judged
  const outgoing = sendUpstream(request, judged, {})
  context.own(upstream)
  outgoing.setTimeout(context.limits.idleMs, () => outgoing.destroy())
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer))
    pipeline(answer, response, () => upstream.destroy())
  })
  outgoing.on('error', () => {
    if (response.headersSent) {
      response.destroy()
      return
    }
    const { status, statusText, headers, body } = denialAnswer({
      ...judgement.decision,
      reason: 'unreachable',
    })
    response.writeHead(status, statusText, headers).end(body)
  })
  response.on('close', () => outgoing.destroy())
  pipeline(request, outgoing, () => {})
}

/** As {@link forwardRequest}, for a request that becomes another protocol, such as a WebSocket without TLS. */
export async function forwardUpgrade(
  request: IncomingMessage,
  client: Socket,
  inside: InsideTunnel | undefined,
  context: ProxyContext,
): Promise<void> {
  client.on('error', () => client.destroy())
  const judged = await judgeRequest(request, inside, context)
  if (!('judgement' in judged)) return writeAnswer(client, judged)
  const { upstream } = judged
  context.own(upstream)
  client.setTimeout(context.limits.idleMs, () => client.destroy())
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => client.destroy())
  const { upgrade = '' } = request.headers
  const outgoing = sendUpstream(request, judged, { connection: ['Upgrade'], upgrade: [upgrade] })
  outgoing.on('upgrade', (answer, _socket, head) => {
    client.write(headOf(answer, ['connection', 'upgrade']))
    upstream.unshift(head)
    upstream.pipe(client)
    client.pipe(upstream)
  })
  outgoing.on('response', (answer) => {
    client.write(headOf(answer, ['transfer-encoding']))
    answer.pipe(client)
  })
  outgoing.on('error', () => client.destroy())
  outgoing.end()
}

async function judgeRequest(
  request: IncomingMessage,
  inside: InsideTunnel | undefined,
  context: ProxyContext,
): Promise<JudgedRequest | DenialAnswer> {
  return inside === undefined
    ? judgeAbsolute(request, context)
    : judgeInside(request, inside, context)
}

/** `GET http://host/path`: the request line says where it leads, whatever its header `Host` says. */
async function judgeAbsolute(
  request: IncomingMessage,
  context: ProxyContext,
): Promise<JudgedRequest | DenialAnswer> {
  const { judge, record, credentials } = context
  const match = /^http:\/\/([^/?#]*)(?:(\/[^#]*)|(\?[^#]*))?$/i.exec(request.url ?? '')
  const [, authority = '', path, query] = match ?? []
  const named = readAuthority(authority)
  const target = named ?? { host: readUrlHost(authority), port: 80 }
  const asked = { ...target, spelled: authority, protocol: 'http' } as const
  const sender = checkAuthorization(credentials, request.headers['proxy-authorization'])
  if (sender !== 'own') return denialAnswer(record.add(withoutCredentials(asked, sender)))
  const judgement = await judge.judge(asked, record)
  if (judgement.host === undefined) return denialAnswer(judgement.decision)
  return connectFor(judgement, path ?? `/${query ?? ''}`, context)
}

/** A request in a tunnel is for the tunnel's host, or it is refused. */
async function judgeInside(
  request: IncomingMessage,
  inside: InsideTunnel,
  context: ProxyContext,
): Promise<JudgedRequest | DenialAnswer> {
  const { judgement } = inside
  const { decision } = judgement
  const { host: header = '' } = request.headers
  const named = readAuthority(header) ?? { host: readUrlHost(header), port: decision.port }
  const isHost = named.host?.text === judgement.host?.text && named.port === decision.port
  if (!isHost || request.url?.startsWith('/') !== true) {
    context.record.refuse(decision, 'server-name', header)
    return denialAnswer(decision)
  }
  const { upstream } = inside
  inside.upstream = undefined
  if (upstream === undefined || upstream.destroyed) {
    return connectFor(judgement, request.url, context)
  }
  countBytes(upstream, decision)
  return { judgement, path: request.url, upstream }
}

async function connectFor(
  judgement: Judgement,
  path: string,
  { judge }: ProxyContext,
): Promise<JudgedRequest | DenialAnswer> {
  try {
    const upstream = await judge.connect(judgement.decision)
    countBytes(upstream, judgement.decision)
    return { judgement, path, upstream }
  } catch {
    return denialAnswer(judgement.decision)
  }
}

function sendUpstream(
  request: IncomingMessage,
  { judgement, path, upstream }: JudgedRequest,
  more: Readonly<Record<string, string[]>>,
): ClientRequest {
  const headers: Record<string, string[]> = { host: [hostHeader(judgement)], ...more }
  for (const [name, value] of endToEnd(request)) (headers[name] ??= []).push(value)
  if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = ['chunked']
  return requestUpstream({
    method: request.method ?? 'GET',
    path,
    headers,
    setHost: false,
    // Not `agent: false`, with which Node ignores this and dials by itself.
    createConnection: () => upstream,
  })
}

/** Names in lower case, with their values, without those that the last hop meant for this one. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): (readonly [string, string])[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const dropped = new Set([...hopByHop, ...named])
  const kept: (readonly [string, string])[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    if (!dropped.has(name)) kept.push([name, rawHeaders[at + 1] ?? ''])
  }
  return kept
}

function answerHeaders(answer: IncomingMessage): string[] {
  return endToEnd(answer).flat()
}

function headOf(answer: IncomingMessage, alsoKept: readonly string[]): string {
  const { statusCode = 502 } = answer
  const own = alsoKept.flatMap((name) => {
    const value = answer.headers[name]
    // Node has taken the chunks apart: the end of the connection is the end of the body.
    return typeof value === 'string' && name !== 'transfer-encoding' ? [[name, value] as const] : []
  })
  const lines = [...endToEnd(answer), ...own].map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ''}\r\n${lines.join('')}\r\n`
}
