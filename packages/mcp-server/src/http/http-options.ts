import { SmithersError } from '@smithers/tool-core'
import type { AuthInfo, OAuthMetadata } from '@modelcontextprotocol/server'
import { hostNames, isLoopback, originNames } from './addressed-names.ts'

/** An OAuth resource server: access tokens come from an authorization server, and this one verifies them. */
export interface OAuthResource {
  /**
   * Returns what a token says, with `expiresAt`, `resource` (its audience) and, in `extra.sub`, its user.
   *
   * @throws OAuthError of `@modelcontextprotocol/server` with `invalid_token` for any other token
   */
  readonly verifyAccessToken: (token: string) => Promise<AuthInfo>
  /** The public address of this server, which tokens must name as their audience. */
  readonly resource: URL
  /** The metadata of the authorization server, for the discovery documents. @default none are served */
  readonly metadata?: OAuthMetadata | undefined
  /** Scopes that a token must have. @default none */
  readonly requiredScopes?: readonly string[] | undefined
}

/** Options of {@link serveHttp}. */
export interface ServeHttpOptions {
  /** 0 for any free one. */
  readonly port: number
  /**
   * The address to listen on. Any but a loopback address needs `token` or `oauth`; every address, such as `0.0.0.0`, also
   * needs `allowedHosts` or `oauth`.
   *
   * @default '127.0.0.1'
   */
  readonly host?: string | undefined
  /** The bearer token that clients send, at least 16 characters. @default 32 random bytes */
  readonly token?: string | undefined
  /** Verify the access tokens of an authorization server instead. */
  readonly oauth?: OAuthResource | undefined
  /**
   * Names by which clients may address this server, beside localhost, 127.0.0.1, [::1], `host` and that of `oauth`.
   *
   * @default none
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** Names of web pages that may call it, from a browser, such as `app.example`. @default none */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Requests under way at once; later ones are answered 503. @default 64 */
  readonly maxRequests?: number | undefined
  /**
   * Sessions at once, for clients of protocol 2025-11-25 and older: the server can put questions to a client with a
   * session, and the client can cancel calls. 0 for none, as for processes that serve one address in turn.
   *
   * @default 64
   */
  readonly maxSessions?: number | undefined
  /** How long a session lasts without a request under way, in milliseconds. @default 1_800_000 (half an hour) */
  readonly sessionIdleMs?: number | undefined
}

const shortestToken = 16
const longestTimerMs = 2 ** 31 - 1

/**
 * Refuses options that would leave the server open.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function checkHttpOptions(options: ServeHttpOptions): void {
  const { port, host = '127.0.0.1', token, oauth, maxRequests = 64 } = options
  const { maxSessions = 64, sessionIdleMs = 1 } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw wrong(`port must be a whole number from 0 to 65535, got ${String(port)}.`)
  }
  if (!Number.isInteger(maxRequests) || maxRequests < 1) {
    throw wrong(`maxRequests must be a whole number from 1, got ${String(maxRequests)}.`)
  }
  if (!Number.isInteger(maxSessions) || maxSessions < 0) {
    throw wrong(`maxSessions must be a whole number from 0, got ${String(maxSessions)}.`)
  }
  if (!Number.isInteger(sessionIdleMs) || sessionIdleMs < 1 || sessionIdleMs > longestTimerMs) {
    throw wrong(
      `sessionIdleMs must be a whole number from 1 to ${longestTimerMs}, got ${String(sessionIdleMs)}.`,
    )
  }
  if (token !== undefined && oauth !== undefined) {
    throw wrong('token and oauth exclude each other.')
  }
  if (token !== undefined && (token.length < shortestToken || /[^\x21-\x7e]/.test(token))) {
    throw wrong(`token must have at least ${shortestToken} printable characters and no spaces.`)
  }
  if (!isLoopback(host) && token === undefined && oauth === undefined) {
    throw wrong(
      `host ${JSON.stringify(host)} is not a loopback address, so other machines could reach the tools. Give a token or oauth of your own (--token-file, or --verify with --public-url), and put TLS in front.`,
    )
  }
  hostNames(options)
  originNames(options)
}

function wrong(message: string): SmithersError {
  return new SmithersError('INVALID_INPUT', `serveHttp: ${message}`, { effect: 'none' })
}
