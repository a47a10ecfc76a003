import { createHash } from 'node:crypto'
import type { ServerContext } from '@modelcontextprotocol/server'
import canonicalize from 'canonicalize'

/**
 * Who makes a request, as far as the server can tell: the subject of the token, or the token itself. Two users of one
 * client application must not answer each other's questions. Over stdio there is one client.
 */
export function clientOf({ http }: Pick<ServerContext, 'http'>): string {
  const auth = http?.authInfo
  if (auth === undefined) return 'stdio'
  const subject = auth.extra?.['sub']
  const who = typeof subject === 'string' ? `sub ${subject}` : `token ${digest(auth.token)}`
  return `${auth.clientId}\n${who}`
}

/** Equal for equal calls of one client. */
export function callSignature(client: string, toolName: string, args: unknown): string {
  return digest(`${client}\n${toolName}\n${canonicalize(args) ?? ''}`).slice(0, 32)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
