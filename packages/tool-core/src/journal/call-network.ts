import type { HostDecision } from '../contract/network-access.ts'
import { recordJson } from '../json/recorded-json.ts'
import type { Redaction } from '../json/redaction.ts'
import type { CallConnections, RecordedConnection } from '../log/call-connections.ts'

/** A connection as the program that made it reports it, once it has ended. */
export interface EndedConnection extends HostDecision {
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** What a command did on the network. */
export interface ReportedNetworkUse {
  readonly decisions: readonly EndedConnection[]
  /** How many more connections there were. */
  readonly omitted: number
}

type Writable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] }

/** The connections of one call, for its row. */
export class CallNetwork {
  #entries: Map<string, Writable<RecordedConnection>> | undefined
  #allowed = 0
  #omitted = 0

  add({ decisions, omitted }: ReportedNetworkUse): void {
    this.#omitted += omitted
    for (const decision of decisions) this.#addOne(decision)
  }

  /** Undefined for a call that reported nothing. At most {@link mostBytes}; the last entries give way. */
  json(redact: Redaction): string | undefined {
    if (this.#entries === undefined) return undefined
    const connections = [...this.#entries.values()]
    let omitted = this.#omitted
    for (;;) {
      const use: CallConnections = { connections, omitted }
      const { json } = recordJson(use, redact, Infinity)
      if (json === null || Buffer.byteLength(json) <= mostBytes) return json ?? undefined
      omitted += connections.pop()?.count ?? 0
    }
  }

  #addOne(decision: EndedConnection): void {
    const { host, port, protocol, allowed, rule, reason, detail } = decision
    const key = JSON.stringify([host, port, protocol, allowed, rule, reason, detail])
    this.#entries ??= new Map()
    const known = this.#entries.get(key)
    if (known !== undefined) {
      known.count += 1
      known.bytesSent += decision.bytesSent
      known.bytesReceived += decision.bytesReceived
      return
    }
    // A flood of allowed hosts must not hide a refusal.
    const isFull = allowed ? this.#allowed >= mostEntries / 2 : this.#entries.size >= mostEntries
    if (isFull) {
      this.#omitted += 1
      return
    }
    if (allowed) this.#allowed += 1
    this.#entries.set(key, entryOf(decision))
  }
}

function entryOf(decision: EndedConnection): Writable<RecordedConnection> {
  const { atMs, host, port, protocol, allowed, rule, reason, detail, addresses } = decision
  return {
    atMs,
    host: host.slice(0, mostCharacters),
    port,
    protocol,
    allowed,
    ...(rule === undefined ? {} : { rule: rule.slice(0, mostCharacters) }),
    ...(reason === undefined ? {} : { reason }),
    ...(detail === undefined ? {} : { detail: detail.slice(0, mostCharacters) }),
    addresses: addresses.slice(0, mostAddresses),
    count: 1,
    bytesSent: decision.bytesSent,
    bytesReceived: decision.bytesReceived,
  }
}

const mostEntries = 50
const mostAddresses = 4
const mostCharacters = 300
const mostBytes = 16 * 1024
