import { isIP } from 'node:net'
import { SmithersError } from '@smithers/tool-core'

/** What says by which names a server is called, and from which pages. */
export interface AddressedServer {
  readonly host?: string | undefined
  readonly oauth?: { readonly resource: URL } | undefined
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
}

/** Addresses that stand for all addresses of the machine, as URLs write them. */
const everyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '[::]', '[::ffff:0:0]'])

/**
 * The names by which clients may address the server: the loopback names, the address it listens on, the public one of
 * `oauth`, and `allowedHosts`. A web page that has bound its own name to this address is not among them.
 *
 * @throws SmithersError `INVALID_INPUT` for what is not a name, and when the server listens on every address and no name
 *   says how other machines call it
 */
export function hostNames(options: AddressedServer): readonly string[] {
  const { host = '127.0.0.1', oauth, allowedHosts = [] } = options
  const given = allowedHosts.map((name) => nameOf('allowedHosts', name))
  const named = oauth === undefined ? given : [oauth.resource.hostname, ...given]
  if (!isEveryAddress(host)) return [...loopbackNames, nameOf('host', host), ...named]
  if (named.length > 0) return [...loopbackNames, ...named]
  throw wrong(
    `host ${JSON.stringify(host)} is every address of this machine, so the server cannot know its name, and would refuse every other machine. Give the names that clients use: allowedHosts: ["tools.example"], or --allow-host tools.example.`,
  )
}

/** The name for the address that clients are told. @throws SmithersError as {@link hostNames} */
export function addressName(options: AddressedServer): string {
  const { host = '127.0.0.1' } = options
  if (!isEveryAddress(host)) return nameOf('host', host)
  return hostNames(options)[loopbackNames.length] ?? host
}

/**
 * The names of the web pages that may call. A name such as `vscode-webview://*` is a scheme other than http.
 *
 * @throws SmithersError `INVALID_INPUT` for what is not a name
 */
export function originNames({ allowedOrigins = [] }: AddressedServer): readonly string[] {
  return allowedOrigins.map((name) =>
    /^(?!https?:)[a-z][a-z\d+.-]*:\/\/\*$/.test(name) ? name : nameOf('allowedOrigins', name),
  )
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}

const loopbackNames = ['localhost', '127.0.0.1', '[::1]']

function isEveryAddress(host: string): boolean {
  return host === '' || everyAddress.has(nameOf('host', host))
}

/** A name as URLs write it, in which requests are compared: `Tools.Example` is `tools.example`. */
function nameOf(option: string, given: string): string {
  const name = isIP(given) === 6 ? `[${given}]` : given
  const url = `http://${name}/`
  if (/^(?:\[[\da-f:.]+\]|[^\s/?#@*:[\]]+)$/i.test(name) && URL.canParse(url)) {
    return new URL(url).hostname
  }
  throw wrong(
    `${option} takes names without scheme, port or wildcard, such as tools.example, got ${JSON.stringify(given)}.`,
  )
}

function wrong(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', `serveHttp: ${message}`, { effect: 'none' })
}
