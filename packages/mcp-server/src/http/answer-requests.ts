import {
  type AuthInfo,
  createMcpHandler,
  isJsonContentType,
  isJSONRPCRequest,
  isLegacyRequest,
  readRequestBody,
} from '@modelcontextprotocol/server'
import type { McpToolServer } from '../create-mcp-server.ts'
import { printableLine, shortened } from '../text/printable.ts'
import { type CheckedRequest, ClientSessions } from './client-sessions.ts'
import type { ServeHttpOptions } from './http-options.ts'
import { RequestCapacity } from './request-capacity.ts'

/** Answers requests whose tokens have been checked. */
export interface RequestAnswers {
  answer(request: Request, authInfo: AuthInfo): Promise<Response>
  /** Ends what is under way, and the sessions. */
  close(): Promise<void>
}

/**
 * Serves a request by itself where it can be, and in a session where it belongs to one. So many bodies are read at once,
 * and so many requests are under way; later ones are answered 503.
 */
export function createRequestAnswers(
  server: McpToolServer,
  { maxRequests = 64, maxSessions = 64, sessionIdleMs = 1_800_000 }: ServeHttpOptions,
): RequestAnswers {
  const onerror = (error: Error): void =>
    server.warn(`http: ${shortened(printableLine(error.message), 500)}`)
  const handler = createMcpHandler(server.session, { maxSubscriptions: 8, onerror })
  const sessions = new ClientSessions(server.session, {
    maxSessions,
    idleMs: sessionIdleMs,
    onerror,
  })
  const reading = new RequestCapacity(maxRequests)
  const serving = new RequestCapacity(maxRequests)

  const serve = async (checked: CheckedRequest): Promise<Response> => {
    const { request, ...rest } = checked
    const isOld = await isLegacyRequest(request, checked.parsedBody)
    const answer = isOld ? await sessions.serve(checked) : undefined
    return answer ?? handler.fetch(request, rest)
  }
  return {
    async answer(request, authInfo) {
      // The stream or the end of a session: there is one of each for a session.
      if (request.method !== 'POST') return serve({ request, authInfo, parsedBody: undefined })
      // Refused by the handler, which does not read it.
      if (!isJsonContentType(request.headers.get('content-type'))) {
        return handler.fetch(request, { authInfo })
      }
      let parsedBody: unknown
      const refused = await reading.serve(async () => {
        const read = await readJson(request)
        parsedBody = read.value
        return read.refused ?? new Response()
      })
      if (!refused.ok) return refused
      const checked = { request, authInfo, parsedBody }
      // What is waited for must come through: the answer to a question, and the end of a call.
      return isWaitedFor(parsedBody) ? serve(checked) : serving.serve(() => serve(checked))
    },
    async close() {
      await sessions.close()
      await handler.close()
    },
  }
}

/** True for answers and notifications: they begin nothing. */
function isWaitedFor(parsedBody: unknown): boolean {
  return ![parsedBody].flat().some((message) => isJSONRPCRequest(message))
}

interface ReadBody {
  readonly value?: unknown
  readonly refused?: Response
}

async function readJson(request: Request): Promise<ReadBody> {
  try {
    const body = await readRequestBody(request)
    if (body.tooLarge) return { refused: refusal(413, -32_000, 'The body is over 4 MiB.') }
    return { value: JSON.parse(body.text) as unknown }
  } catch {
    return { refused: refusal(400, -32_700, 'Parse error: the body is not JSON.') }
  }
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
