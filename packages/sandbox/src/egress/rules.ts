import { SandboxError } from '../errors/sandbox-error.ts'
import { type Host, readHost, readPort } from './host.ts'

/** One entry of `network.allow` or `network.deny`. */
export interface HostRule {
  /** As it was given. */
  readonly text: string
  /** `'below'`: the names below `host`, not itself. */
  readonly kind: Host['kind'] | 'below'
  readonly host: string
  readonly ports: 'web' | 'any' | number
}

/** Both lists of a sandbox. */
export interface HostRules {
  readonly allow: readonly HostRule[]
  readonly deny: readonly HostRule[]
}

/** What the rules say of one host and port. */
export type RuleDecision =
  | {
      readonly allowed: true
      readonly rule: string
      /** A matching rule names the port, or any: other protocols than HTTP and TLS may be spoken there. */
      readonly namesPort: boolean
    }
  | { readonly allowed: false; readonly rule: string | null }

const webPorts: ReadonlySet<number> = new Set([80, 443])

/**
 * Reads both lists. A rule without a port means ports 80 and 443 in `allow`, and every port in `deny`.
 *
 * @throws SandboxError `INVALID_INPUT` for a rule that is not of a known form
 */
export function readRules(allow: readonly string[], deny: readonly string[]): HostRules {
  return Object.freeze({
    allow: allow.map((text, index) => readRule(text, `network.allow[${index}]`, 'web')),
    deny: deny.map((text, index) => readRule(text, `network.deny[${index}]`, 'any')),
  })
}

function readRule(text: string, option: string, defaultPorts: 'web' | 'any'): HostRule {
  const [, hostText = '', portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(text) ?? []
  const isBelow = hostText.startsWith('*.')
  const host = readHost(isBelow ? hostText.slice(2) : hostText)
  const ports =
    portText === undefined ? defaultPorts : portText === '*' ? 'any' : readPort(portText)
  if (host === null || ports === null || (isBelow && host.kind === 'address')) {
    throw invalidRule(text, option)
  }
  return Object.freeze({ text, kind: isBelow ? 'below' : host.kind, host: host.text, ports })
}

function invalidRule(text: string, option: string): SandboxError {
  return new SandboxError(
    'INVALID_INPUT',
    `${option} is ${JSON.stringify(text.slice(0, 100))}. Pass a host without a scheme or path: "example.com", "*.example.com" for the names below it, ` +
      `an address such as "192.0.2.7" or "[2001:db8::1]", each with ":PORT" or ":*" where it means other ports than 80 and 443. ` +
      'Write international names in their "xn--" form.',
    { details: { option }, effect: 'none' },
  )
}

/**
 * Decides by both lists.
 *
 * *Guarantees*: a host that `deny` matches is refused whatever `allow` says; a host that nothing matches is refused.
 */
export function decideByRules({ allow, deny }: HostRules, host: Host, port: number): RuleDecision {
  const denying = deny.find((rule) => matches(rule, host, port))
  if (denying !== undefined) return { allowed: false, rule: denying.text }
  const allowing = allow.filter((rule) => matches(rule, host, port))
  const [first] = allowing
  if (first === undefined) return { allowed: false, rule: null }
  return {
    allowed: true,
    rule: first.text,
    namesPort: allowing.some(({ ports }) => ports !== 'web'),
  }
}

function matches(rule: HostRule, host: Host, port: number): boolean {
  const isPort =
    rule.ports === 'web' ? webPorts.has(port) : rule.ports === 'any' || rule.ports === port
  if (!isPort) return false
  if (rule.kind === 'below') return host.kind === 'name' && host.text.endsWith(`.${rule.host}`)
  return rule.kind === host.kind && rule.host === host.text
}
