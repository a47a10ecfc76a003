import type { Socket } from 'node:net'
import { ByteReader } from './byte-reader.ts'
import { type FirstBytes, readFirstBytes } from './client-hello.ts'
import { denialAnswer, type DenialAnswer } from './denial.ts'
import { authorityOf, readHost } from './host.ts'
import type { Judgement } from './judge.ts'
import { countBytes, type ProxyContext } from './proxy-context.ts'

/** Answers on a socket that no HTTP server has any more. */
export function writeAnswer(
  client: Socket,
  { status, statusText, headers, body }: DenialAnswer,
): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  client.end(`HTTP/1.1 ${status} ${statusText}\r\n${lines.join('')}\r\n${body}`)
}

/**
 * Joins a command's connection with the host that was judged for it.
 *
 * *Guarantees*: where no rule names the port, nothing but TLS for that very host, or plain HTTP that is judged request by
 * request, leaves. A TLS greeting for another host ends the tunnel in every case.
 * *Does not protect against* what is inside the encryption, and other protocols on a port that a rule names.
 */
export async function runTunnel(
  client: Socket,
  upstream: Socket,
  judgement: Judgement,
  context: ProxyContext,
): Promise<void> {
  const { decision, namesPort } = judgement
  const { limits, record } = context
  const part = join(client, upstream)
  client.setTimeout(limits.idleMs, () => client.destroy())
  // Where any protocol may be spoken, the host may be the one that begins.
  if (namesPort) upstream.pipe(client)
  const { first, bytes } = await readGreeting(client, namesPort ? null : limits.headerMs)
  if (first.kind === 'more' && !namesPort) {
    countBytes(upstream, decision)
    client.destroy()
    return
  }
  if (first.kind === 'other' && !namesPort && isHttp(bytes)) {
    part()
    client.unshift(bytes)
    context.serveInside(client, { judgement, upstream })
    return
  }
  countBytes(upstream, decision)
  const otherName = first.kind === 'tls' ? otherServerName(first.serverName, judgement) : null
  if (otherName !== null) {
    record.refuse(decision, 'server-name', otherName)
    client.destroy()
    return
  }
  if (first.kind === 'malformed' || (first.kind === 'other' && !namesPort)) {
    record.refuse(decision, 'protocol')
    client.destroy()
    return
  }
  if (bytes.length > 0) upstream.write(bytes)
  client.pipe(upstream)
  if (!namesPort) upstream.pipe(client)
}

/** The answer to a connection that is refused, or that came to nothing. */
export function refuseTunnel(client: Socket, { decision }: Judgement): void {
  writeAnswer(client, denialAnswer(decision))
}

/** Ends both together. Returns what undoes that. */
function join(client: Socket, upstream: Socket): () => void {
  const end = (): void => {
    client.destroy()
    upstream.destroy()
  }
  for (const socket of [client, upstream]) {
    socket.on('error', end)
    socket.once('close', end)
  }
  return () => {
    upstream.off('close', end)
    upstream.off('error', end)
    upstream.on('error', () => upstream.destroy())
  }
}

/** The bytes by which a client begins; fewer than that where it ends first, or says nothing in time. */
async function readGreeting(
  client: Socket,
  withinMs: number | null,
): Promise<{ first: FirstBytes; bytes: Buffer }> {
  const timer = withinMs === null ? undefined : setTimeout(() => client.destroy(), withinMs)
  const reader = new ByteReader(client)
  let first: FirstBytes = { kind: 'more' }
  while (first.kind === 'more' && (await reader.receive())) first = readFirstBytes(reader.bytes)
  clearTimeout(timer)
  return { first, bytes: reader.bytes }
}

/** Methods are upper-case words; what follows is for the HTTP parser to judge. */
function isHttp(bytes: Buffer): boolean {
  return /^[A-Z]/.test(bytes.toString('latin1', 0, 1))
}

/** The name in the greeting, where it is not the host's. */
function otherServerName(serverName: string | null, { host }: Judgement): string | null {
  if (serverName === null || host === undefined) return null
  return readHost(serverName)?.text === host.text ? null : serverName
}

/** The host and port of a judgement, as a header has them. */
export function hostHeader({ host, decision }: Judgement): string {
  if (host === undefined) return ''
  const authority = authorityOf(host, decision.port)
  return decision.port === 80 ? authority.replace(/:80$/, '') : authority
}
