import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ByteReader } from './byte-reader.ts'
import { areCredentials } from './credentials.ts'
import { readHost } from './host.ts'
import type { Judgement } from './judge.ts'
import { type ProxyContext, withoutCredentials } from './proxy-context.ts'
import { runTunnel } from './tunnel.ts'

/** Answers of RFC 1928. */
const reply = {
  succeeded: 0,
  notAllowed: 2,
  hostUnreachable: 4,
  refused: 5,
  commandNotSupported: 7,
  addressNotSupported: 8,
} as const
const [version, noMethod, byPassword, connectCommand] = [5, 0xff, 2, 1] as const
const [ipv4, domain, ipv6] = [1, 3, 4] as const

/**
 * Serves one SOCKS5 connection (RFC 1928 with the user name and password of RFC 1929): CONNECT only.
 *
 * *Guarantees*: the same judgement as for HTTP; BIND and UDP are refused.
 */
export async function serveSocks(
  client: Socket,
  context: ProxyContext,
  onceRead: () => void,
): Promise<void> {
  client.on('error', () => client.destroy())
  const request = await readRequest(client, context)
  onceRead()
  if (request === null) return void client.end()
  const { spelled, port } = request
  const judgement = await context.judge.judge(
    { host: port === 0 ? null : readHost(spelled), spelled, port, protocol: 'socks5' },
    context.record,
  )
  if (judgement.host === undefined) {
    const isUnresolved = judgement.decision.reason === 'unresolved'
    return answer(client, isUnresolved ? reply.hostUnreachable : reply.notAllowed)
  }
  await connectTo(client, judgement, context)
}

async function connectTo(
  client: Socket,
  judgement: Judgement,
  context: ProxyContext,
): Promise<void> {
  let upstream: Socket
  try {
    upstream = await context.judge.connect(judgement.decision)
  } catch {
    return answer(client, reply.refused)
  }
  context.own(upstream)
  if (client.destroyed) return void upstream.destroy()
  client.write(replyBytes(reply.succeeded))
  await runTunnel(client, upstream, judgement, context)
}

/** `null` where the conversation ended before a request, or was answered already. */
async function readRequest(
  client: Socket,
  { credentials, record }: ProxyContext,
): Promise<{ readonly spelled: string; readonly port: number } | null> {
  const reader = new ByteReader(client)
  const [, methodCount = 0] = await reader.take(2)
  const methods = await reader.take(methodCount)
  const isMissing = !methods.includes(byPassword)
  client.write(Buffer.from([version, isMissing ? noMethod : byPassword]))
  const isOwn = !isMissing && (await readPassword(reader, credentials))
  if (!isMissing) client.write(Buffer.from([1, isOwn ? 0 : 1]))
  if (!isOwn) {
    // The host is only named afterwards.
    const unknown = { host: null, spelled: 'unknown', port: 0, protocol: 'socks5' } as const
    record.add(withoutCredentials(unknown, isMissing ? 'missing' : 'wrong'))
    return null
  }
  const [first, command, , kind] = await reader.take(4)
  if (first !== version) return null
  const host = await readAddress(reader, kind)
  if (host === null || command !== connectCommand) {
    client.write(replyBytes(host === null ? reply.addressNotSupported : reply.commandNotSupported))
    return null
  }
  const port = (await reader.take(2)).readUInt16BE()
  reader.giveBack()
  return { spelled: host, port }
}

async function readPassword(
  reader: ByteReader,
  credentials: ProxyContext['credentials'],
): Promise<boolean> {
  const [, userLength = 0] = await reader.take(2)
  const user = await reader.take(userLength)
  const [tokenLength = 0] = await reader.take(1)
  const token = await reader.take(tokenLength)
  return areCredentials(credentials, user.toString('latin1'), token.toString('latin1'))
}

async function readAddress(reader: ByteReader, kind: number | undefined): Promise<string | null> {
  switch (kind) {
    case ipv4:
      return ipaddr.fromByteArray([...(await reader.take(4))]).toString()
    case ipv6:
      return ipaddr.fromByteArray([...(await reader.take(16))]).toString()
    case domain: {
      const [length = 0] = await reader.take(1)
      return (await reader.take(length)).toString('latin1')
    }
    default:
      return null
  }
}

function answer(client: Socket, code: number): void {
  client.end(replyBytes(code))
}

/** With an address of zeros: clients have no use for the real one. */
function replyBytes(code: number): Buffer {
  return Buffer.from([version, code, 0, ipv4, 0, 0, 0, 0, 0, 0])
}
