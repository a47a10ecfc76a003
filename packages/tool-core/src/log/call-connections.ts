/** What the commands of one call asked of the network: `networkJson` of its row, as JSON. */
export interface CallConnections {
  /** Equal connections are one entry. In the order of the first of each; at most 50. */
  readonly connections: readonly RecordedConnection[]
  /** How many connections are in no entry. */
  readonly omitted: number
}

/** Connections of one call to the same host that were decided alike. */
export interface RecordedConnection {
  /** When the first was asked for. Milliseconds since the epoch. */
  readonly atMs: number
  readonly host: string
  readonly port: number
  /** `'http'`, `'connect'` or `'socks5'`. */
  readonly protocol: string
  readonly allowed: boolean
  /** The rule that decided; absent when none matches. */
  readonly rule?: string
  readonly reason?: string
  /** More than the reason says, in words. */
  readonly detail?: string
  /** What the host resolved to; at most four. */
  readonly addresses: readonly string[]
  /** How many connections this is. */
  readonly count: number
  /** Of all of them, from the command to the host. */
  readonly bytesSent: number
  readonly bytesReceived: number
}
