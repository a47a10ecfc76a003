/** Why a connection was refused, or came to nothing. */
export type NetworkReason =
  /** No rule of `network.allow` matches. */
  | 'not-allowed'
  /** A rule of `network.deny` matches. */
  | 'denied'
  /** `network.onDecision` said so, or threw. */
  | 'refused-by-callback'
  /** Not a host that every program reads in the same way. */
  | 'invalid-host'
  /** The host has an address that is not public. */
  | 'address-not-public'
  /** The name in the TLS handshake is not the host that was allowed. */
  | 'server-name'
  /** Neither TLS nor HTTP, and no rule names the port. */
  | 'protocol'
  /** The user name and token of the command are missing or wrong. */
  | 'credentials'
  /** More connections at the same time than the limit. */
  | 'too-many-connections'
  /** Allowed, but the name has no address. */
  | 'unresolved'
  /** Allowed, but no connection could be made. */
  | 'unreachable'

/** One connection that a command asked for, and what was decided. */
export interface NetworkDecision {
  /** Since the Unix epoch, in milliseconds. */
  readonly atMs: number
  /** As the command spelled it where it could not be read. */
  readonly host: string
  readonly port: number
  readonly protocol: 'http' | 'connect' | 'socks5'
  readonly allowed: boolean
  /** The rule that decided; absent when none matches. */
  readonly rule?: string
  /** What the host resolved to, as far as it was asked. */
  readonly addresses: readonly string[]
  readonly reason?: NetworkReason
  /** In words, where there is more to say than the reason: the other name, or the address. */
  readonly detail?: string
  /** From the command to the host, in bytes; counted when the connection ends. */
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** What one command did on the network. */
export interface NetworkUse {
  /** The first 200, in order. */
  readonly decisions: readonly NetworkDecision[]
  /** How many more were made. */
  readonly omitted: number
}

/** A decision that may still change: its bytes are counted at the end, and a tunnel may show another name. */
export type OpenDecision = { -readonly [Name in keyof NetworkDecision]: NetworkDecision[Name] }

/** The `detail` of a request without any user name and token. */
const missingCredentials = 'missing'

const maxKept = 200
const maxDenialsKept = 50

/** Keeps the decisions of one command, within bounds. */
export class NetworkRecord {
  readonly #kept: OpenDecision[] = []
  /** Apart from the others: a flood of allowed connections must not hide a refusal. */
  readonly #denied = new Map<string, NetworkDecision>()
  readonly #onRecord: ((decision: NetworkDecision) => void) | undefined
  #omitted = 0

  constructor(onRecord?: (decision: NetworkDecision) => void) {
    this.#onRecord = onRecord
  }

  add(decision: OpenDecision): OpenDecision {
    if (this.#kept.length < maxKept) this.#kept.push(decision)
    else this.#omitted += 1
    if (!decision.allowed) this.#noteDenial(decision)
    this.#onRecord?.(decision)
    return decision
  }

  /** Turns a decision into a refusal. */
  refuse(decision: OpenDecision, reason: NetworkReason, detail?: string): void {
    decision.allowed = false
    decision.reason = reason
    if (detail !== undefined) decision.detail = detail
    this.#noteDenial(decision)
    this.#onRecord?.(decision)
  }

  /** Each refused host once, and at most 50. */
  get denials(): readonly NetworkDecision[] {
    return [...this.#denied.values()]
  }

  capture(): NetworkUse {
    return Object.freeze({
      decisions: Object.freeze(this.#kept.map((decision) => Object.freeze({ ...decision }))),
      omitted: this.#omitted,
    })
  }

  #noteDenial(decision: NetworkDecision): void {
    // Many clients first ask without a token, to learn that the proxy wants one.
    if (decision.reason === 'credentials' && decision.detail === missingCredentials) return
    const key = `${decision.host}:${decision.port} ${decision.reason}`
    if (this.#denied.size < maxDenialsKept && !this.#denied.has(key)) {
      this.#denied.set(key, decision)
    }
  }
}
