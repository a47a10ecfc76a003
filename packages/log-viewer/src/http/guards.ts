import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApiErrorCode } from '../api/api-error.ts'

/** Why a request is refused. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 422 | 503
  readonly code: ApiErrorCode
  readonly message: string
}

/**
 * Refuses what no page of ours sends: a host name that is not ours, behind which another site may have put our address,
 * and requests that another site has made. A link or a file elsewhere may open the document, which holds no data, in a
 * window of its own, never in a frame.
 *
 * @param hosts Every value of the Host header that is ours.
 * @param isDocument The request is for the document of the page.
 */
export function refuseStrangers(
  headers: Headers,
  hosts: readonly string[],
  isDocument: boolean,
): Refusal | undefined {
  const host = headers.get('host')?.toLowerCase()
  if (host === undefined || !hosts.includes(host)) {
    return {
      status: 421,
      code: 'WRONG_HOST',
      message: 'This server has another name. Open the address that the program printed.',
    }
  }
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const opensWindow =
    headers.get('sec-fetch-mode') === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  const isOurs =
    (site === null || site === 'same-origin' || site === 'none' || (isDocument && opensWindow)) &&
    (origin === null || hosts.some((name) => origin.toLowerCase() === `http://${name}`))
  if (isOurs) return undefined
  return {
    status: 403,
    code: 'FORBIDDEN',
    message: 'Another site has made this request. Open the address that the program printed.',
  }
}

/** Refuses a request without the token. The time that the comparison takes says nothing about the token. */
export function refuseWithoutToken(headers: Headers, token: string): Refusal | undefined {
  const given = /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1] ?? ''
  if (timingSafeEqual(digest(given), digest(token))) return undefined
  return {
    status: 401,
    code: 'UNAUTHORIZED',
    message: 'The token is missing or wrong. Open the address that the program printed.',
  }
}

// Digests have the same length, whatever was given.
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The headers of every answer. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Cache-Control': 'no-store',
}
