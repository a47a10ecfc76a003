import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { decideByRules, type HostRules } from './rules.ts'
import { readHost } from './host.ts'

// All that is assigned for the open internet. ipaddr.js calls more unicast, such as ::7f00:1, an old form of 127.0.0.1.
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an address belongs to the open internet.
 *
 * *Guarantees*: false for loopback, private, shared, link-local (metadata services of clouds among them), multicast,
 * reserved and unique-local addresses, for those that carry an IPv4 address (mapped ones are judged as that), and for all
 * that is not an address.
 * *Does not protect against* a public address of this machine; see {@link isOwnAddress}.
 */
export function isPublicAddress(text: string): boolean {
  const host = readHost(text)
  if (host?.kind !== 'address') return false
  const address = ipaddr.parse(host.text)
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalIpv6)
}

const ownAddressesAreFreshMs = 5_000
let own: { readonly addresses: ReadonlySet<string>; readonly until: number } | undefined

/** Whether an address is one of this machine's, as far as its interfaces say. They are asked every five seconds. */
export function isOwnAddress(text: string): boolean {
  const now = performance.now()
  if (own === undefined || own.until < now) {
    const all = Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.map(({ address }) => ipaddr.process(address.split('%')[0] ?? '').toString()),
    )
    own = { addresses: new Set(all), until: now + ownAddressesAreFreshMs }
  }
  return own.addresses.has(ipaddr.process(text).toString())
}

/**
 * Of the addresses of one host, the first that a connection must not reach; `null` when all are fine. One bad answer
 * refuses the host: a name that is public at one moment and private at the next is an attack.
 */
export function findRefusedAddress(
  addresses: readonly string[],
  port: number,
  rules: HostRules,
): string | null {
  return addresses.find((address) => !mayReach(address, port, rules)) ?? null
}

function mayReach(text: string, port: number, rules: HostRules): boolean {
  const host = readHost(text)
  if (host?.kind !== 'address') return false
  const named = decideByRules(rules, host, port)
  // Only an address spelled out in the rules opens one that is not public. A denied one stays closed to names, too.
  if (named.allowed) return true
  return named.rule === null && isPublicAddress(host.text) && !isOwnAddress(host.text)
}
