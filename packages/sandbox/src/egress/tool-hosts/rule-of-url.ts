import { readHost } from '../host.ts'

/** A URL as a tool's configuration has it. */
export interface ConfiguredUrl {
  readonly url: string
  readonly from: string
  readonly setting: string
}

/** A rule for `network.allow`, and the part of a URL that it comes from, without user names and paths. */
export interface RuleOfUrl {
  readonly rule: string
  readonly url: string
}

/** The ports of protocols that no rule has by itself. */
const namedPorts: Readonly<Record<string, string>> = { 'ssh:': '22', 'git:': '9418' }
const webProtocols: ReadonlySet<string> = new Set(['http:', 'https:'])

/**
 * The rule that lets a tool reach a URL of its configuration; `null` where it leads to no host that a rule can name, such
 * as a file. The short form of git (`user@host:path`) is a URL of ssh.
 */
export function ruleOfUrl(text: string): RuleOfUrl | null {
  const [, shortHost] = /^(?:[^@/:\s]+@)([^:/\s]+):(?!\/\/)/.exec(text) ?? []
  const url = URL.parse(
    shortHost === undefined ? text.replace(/^sparse\+/, '') : `ssh://${shortHost}`,
  )
  // A parser without a default port for a protocol keeps upper case.
  const host = url === null ? null : readHost(url.hostname.toLowerCase())
  if (url === null || host === null) return null
  const protocol = url.protocol.replace(/^git\+/, '')
  const isWeb = webProtocols.has(protocol)
  const port = url.port === '' ? namedPorts[protocol] : url.port
  if (!isWeb && namedPorts[protocol] === undefined) return null
  const name = host.text.includes(':') ? `[${host.text}]` : host.text
  const rule = port === undefined ? name : `${name}:${port}`
  return { rule, url: `${protocol}//${rule}` }
}
