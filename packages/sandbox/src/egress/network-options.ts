import type { NetworkDecision } from './network-record.ts'

/** The answer of {@link OnNetworkDecision}; nothing keeps the decision. `{ deny }` also says why, in one sentence. */
export type NetworkAnswer = 'allow' | 'deny' | { readonly deny: string } | undefined | void

/**
 * Called with each decision before it takes effect; the connection waits for the answer. `'deny'` refuses it. `'allow'`
 * lets one through that no rule mentions; it does not overrule `deny`, and the host's addresses must still be public. An
 * error refuses it.
 */
export type OnNetworkDecision = (
  decision: NetworkDecision,
) => NetworkAnswer | Promise<NetworkAnswer>

/** Which hosts commands may reach: `network` of a sandbox. */
export interface NetworkOptions {
  /**
   * Hosts to allow: `example.com`, `*.example.com` (the names below it, not itself), or an address. Ports 80 and 443 unless
   * the rule ends with `:PORT` or `:*`. Only an address spelled out here opens one that is not public. Empty: nothing.
   */
  readonly allow: readonly string[]
  /** Hosts to refuse whatever `allow` says; every port unless the rule names one. @default [] */
  readonly deny?: readonly string[] | undefined
  /** Decides at run time; `onDecision` of one command takes its place. */
  readonly onDecision?: OnNetworkDecision | undefined
  readonly limits?: NetworkLimits | undefined
}

/** Limits of one command's connections. */
export interface NetworkLimits {
  /** Open at the same time. At most 256. @default 256 */
  readonly connections?: number | undefined
  /** Until a connection has said where it leads, in milliseconds. @default 10_000 */
  readonly headerMs?: number | undefined
  /** Until the host accepts it, in milliseconds. @default 10_000 */
  readonly connectMs?: number | undefined
  /** Without a byte in either direction, in milliseconds. @default 300_000 */
  readonly idleMs?: number | undefined
  /** Of one request, in bytes. @default 32_768 */
  readonly headerBytes?: number | undefined
}

/** {@link NetworkLimits} with every value. */
export type ResolvedNetworkLimits = { readonly [Name in keyof NetworkLimits]-?: number }

const defaults: ResolvedNetworkLimits = Object.freeze({
  connections: 256,
  headerMs: 10_000,
  connectMs: 10_000,
  idleMs: 300_000,
  headerBytes: 32_768,
})

export function resolveNetworkLimits(given: NetworkLimits = {}): ResolvedNetworkLimits {
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.freeze({ ...defaults, ...Object.fromEntries(set) })
}
