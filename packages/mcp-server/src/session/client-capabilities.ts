import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { printableLine, shortened } from '../text/printable.ts'

/** What a request of protocol 2026-07-28 says of its client. It is unchecked. */
interface WithEnvelope {
  readonly envelope?: {
    readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
    readonly [CLIENT_INFO_META_KEY]?: Partial<Implementation>
  }
}

/** What the client says that it can: with each request since protocol 2026-07-28, at its start before. */
export function clientCapabilities(
  server: Server,
  ctx: ServerContext,
): ClientCapabilities | undefined {
  const { envelope } = ctx.mcpReq as WithEnvelope
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
}

/** Whether the client can put a question with a form to its person. */
export function canElicit(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation
  if (elicitation === undefined) return false
  // Forms came first: a client that names no mode means them.
  return elicitation.form !== undefined || elicitation.url === undefined
}

/** The client's own name, as the log may show it. */
export function clientName(server: Server, ctx: ServerContext): string {
  const { envelope } = ctx.mcpReq as WithEnvelope
  const told = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion()
  const name = typeof told?.name === 'string' ? told.name : ''
  return shortened(printableLine(name), 100) || 'unknown client'
}
