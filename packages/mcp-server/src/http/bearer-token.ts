import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  type AuthInfo,
  OAuthError,
  OAuthErrorCode,
  type OAuthTokenVerifier,
} from '@modelcontextprotocol/server'

/** A token that cannot be guessed. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Accepts one token. The comparison takes the same time whatever the given token has in common with it: digests of equal
 * length are compared.
 */
export function fixedTokenVerifier(token: string): OAuthTokenVerifier {
  const expected = digest(token)
  return {
    async verifyAccessToken(given): Promise<AuthInfo> {
      if (!timingSafeEqual(digest(given), expected)) {
        throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is wrong.')
      }
      // The token holds as long as the server; the protocol asks for an end.
      const expiresAt = Math.floor(Date.now() / 1000) + dayInSeconds
      return { token: given, clientId: 'token', scopes: [], expiresAt }
    },
  }
}

const dayInSeconds = 86_400

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
