import type { NetworkDecision, NetworkReason } from './network-record.ts'

/** The part of a decision that its explanation needs. */
export type DeniedConnection = Pick<NetworkDecision, 'host' | 'port' | 'reason' | 'detail' | 'rule'>

const noWayAround = 'Other proxies, addresses or tools lead nowhere either.'

/** Explains a refusal to the model and the person that read the command's output: what, why, and what to change. */
export function explainDenial(denied: DeniedConnection): string {
  const { port, rule, detail } = denied
  const where = `${shown(denied.host)}:${port}`
  const explanations: Readonly<Record<NetworkReason, string>> = {
    'not-allowed': `${where} is not in network.allow. The user who runs the sandbox can add ${JSON.stringify(ruleFor(denied))} to network.allow. ${noWayAround}`,
    denied: `${where} is refused by ${JSON.stringify(rule)} in network.deny. The user who runs the sandbox can change that list. ${noWayAround}`,
    'refused-by-callback': `${detail === undefined ? `network.onDecision refused ${where}.` : `${where} is refused. ${printable(detail)}`} ${noWayAround}`,
    'invalid-host': `${where} is not a host name that all programs read alike. Write it in lower case ASCII, an international name in its "xn--" form, an IPv4 address as four decimal numbers.`,
    'address-not-public': `${where} leads to ${detail ?? 'an address'}, which is not an address of the public internet. The user who runs the sandbox can add that address with its port to network.allow.`,
    'server-name': `the connection to ${where} asked for ${detail === undefined ? 'another host' : shown(detail)} in its TLS handshake. Connect to that host by its own name.`,
    protocol: `the connection to ${where} speaks neither TLS nor HTTP. The user who runs the sandbox can allow other protocols by naming the port: "${shown(denied.host)}:${port}" in network.allow.`,
    credentials: `the connection to ${where} did not name its command. Use the proxy address in the variable HTTPS_PROXY as it is, with its user name and token.`,
    'too-many-connections': `the command has too many connections open. Close some, or open fewer at the same time.`,
    unresolved: `the name of ${where} has no address.`,
    unreachable: `${where} could not be reached${detail === undefined ? '' : ` (${detail})`}.`,
  }
  const isDenial = denied.reason !== 'unresolved' && denied.reason !== 'unreachable'
  const explanation = explanations[denied.reason ?? 'not-allowed']
  return isDenial
    ? `Blocked by the sandbox: ${explanation}`
    : `The sandbox allows it, but ${explanation}`
}

/** The rule that would allow it. */
function ruleFor({ host, port }: DeniedConnection): string {
  const name = shown(host)
  return port === 80 || port === 443 ? name : `${name}:${port}`
}

/** What a callback said, on one line. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** What a command spelled may be anything: bounded, in visible ASCII, so that it cannot write lines of its own. */
function shown(host: string): string {
  const visible = host.slice(0, 253).replace(/[^\x21-\x7e]/g, '?')
  return visible.includes(':') && !visible.startsWith('[') ? `[${visible}]` : visible
}

/** In visible ASCII, without the dot at its end. */
function firstSentence(text: string): string {
  const [sentence = ''] = text.split(/\.\s/, 1)
  return sentence
    .replace(/\.$/, '')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 300)
}

const statuses: Readonly<Partial<Record<NetworkReason, number>>> = {
  'invalid-host': 400,
  credentials: 407,
  'too-many-connections': 503,
  unresolved: 502,
  unreachable: 502,
}

/** A refusal as an HTTP answer. */
export interface DenialAnswer {
  readonly status: number
  /** The reason in one sentence: the one part of an answer to CONNECT that many clients print. */
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function denialAnswer(denied: DeniedConnection): DenialAnswer {
  const reason = denied.reason ?? 'not-allowed'
  const status = statuses[reason] ?? 403
  const explanation = explainDenial(denied)
  const body = `${explanation}\n`
  return {
    status,
    statusText: firstSentence(explanation),
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      ...(reason === 'unresolved' || reason === 'unreachable' ? {} : { 'x-sandbox-denied': '1' }),
      'x-sandbox-reason': reason,
      ...(status === 407 ? { 'proxy-authenticate': 'Basic realm="sandbox"' } : {}),
      connection: 'close',
    },
    body,
  }
}
