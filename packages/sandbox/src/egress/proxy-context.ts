import type { Socket } from 'node:net'
import type { Credentials } from './credentials.ts'
import type { ConnectionRequest, Judge, Judgement } from './judge.ts'
import type { ResolvedNetworkLimits } from './network-options.ts'
import type { NetworkRecord, OpenDecision } from './network-record.ts'

/** What the parts of one command's proxy share. */
export interface ProxyContext {
  readonly judge: Judge
  readonly record: NetworkRecord
  readonly limits: ResolvedNetworkLimits
  readonly credentials: Credentials
  /** Closes a socket at the latest when the command ends. */
  readonly own: (socket: Socket) => void
  /** Reads a tunnel as plain HTTP to one host. */
  readonly serveInside: (client: Socket, inside: InsideTunnel) => void
}

/** A tunnel in which plain HTTP is spoken: every request in it is for the host that was judged. */
export interface InsideTunnel {
  readonly judgement: Judgement
  /** The connection that was made for the tunnel, for the first request in it. */
  upstream: Socket | undefined
}

/** A decision about a request that could not say which command sent it. */
export function withoutCredentials(
  { host, spelled, port, protocol }: ConnectionRequest,
  detail: 'missing' | 'wrong',
): OpenDecision {
  return {
    atMs: Date.now(),
    host: host?.text ?? spelled.slice(0, 253),
    port,
    protocol,
    allowed: false,
    addresses: [],
    reason: 'credentials',
    detail,
    bytesSent: 0,
    bytesReceived: 0,
  }
}

/** Counts the bytes of a connection when it has closed. Several connections of one decision add up. */
export function countBytes(upstream: Socket, decision: OpenDecision): void {
  upstream.once('close', () => {
    decision.bytesSent += upstream.bytesWritten
    decision.bytesReceived += upstream.bytesRead
  })
}
