import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A host as rules and connections name it. */
export interface Host {
  readonly kind: 'name' | 'address'
  /** A name in lower case without a dot at its end; an address in its canonical form, IPv6 without brackets. */
  readonly text: string
}

const maxNameLength = 253
const label = /^[a-z0-9_-]{1,63}$/
// What the URL standard reads as the last part of an IPv4 address: decimal, octal or hexadecimal, "0x" included.
const number = /^(?:[0-9]+|0x[0-9a-f]*)$/

/**
 * Reads a host as it appears in a request or a rule; `null` for one that programs may read differently.
 *
 * *Guarantees*: what it accepts means the same host to the URL standard. Refuses user names, escapes, zones, blanks,
 * non-ASCII letters and every spelling of an IPv4 address but the canonical one.
 * *Does not protect against* a name that resolves to a dangerous address; see {@link isPublicAddress}.
 */
export function readHost(text: string): Host | null {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1]
  if (bracketed !== undefined || text.includes(':')) return readIpv6(bracketed ?? text)
  const lower = text.toLowerCase()
  const name = lower.endsWith('.') ? lower.slice(0, -1) : lower
  if (name.length > maxNameLength) return null
  const labels = name.split('.')
  if (!labels.every((each) => label.test(each))) return null
  if (number.test(labels.at(-1) ?? '')) {
    return ipaddr.IPv4.isValidFourPartDecimal(name) && ipaddr.IPv4.parse(name).toString() === name
      ? { kind: 'address', text: name }
      : null
  }
  // A second reader must agree: it also knows which "xn--" labels decode to nothing or to other ASCII.
  return URL.parse(`http://${name}/`)?.hostname === name ? { kind: 'name', text: name } : null
}

function readIpv6(text: string): Host | null {
  if (!isIPv6(text) || text.includes('%')) return null
  // By the URL standard first: ipaddr.js takes "::1.2.3.4" for the mapped "::ffff:1.2.3.4".
  const canonical = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1)
  if (canonical === undefined) return null
  // `process` turns ::ffff:102:304 into 1.2.3.4, which is what a connection to it reaches.
  return { kind: 'address', text: ipaddr.process(canonical).toString() }
}

/** The host and port as a URL has them. */
export function authorityOf({ text }: Host, port: number): string {
  return `${text.includes(':') ? `[${text}]` : text}:${port}`
}

/** Reads `host:port`; `null` where either is missing or has another form. */
export function readAuthority(text: string): { readonly host: Host; readonly port: number } | null {
  const match = /^(.*):([0-9]{1,5})$/s.exec(text)
  // Without brackets, the end of an IPv6 address could be its port.
  const host = readUrlHost(match?.[1] ?? '')
  const port = readPort(match?.[2] ?? '')
  return host === null || port === null ? null : { host, port }
}

/** Reads the host of a URL, where an IPv6 address has brackets. */
export function readUrlHost(text: string): Host | null {
  return text.includes(':') && !text.startsWith('[') ? null : readHost(text)
}

/** Reads a port from 1 to 65535 in its shortest form. */
export function readPort(text: string): number | null {
  const port = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : null
}
