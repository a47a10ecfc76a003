import { randomBytes } from 'node:crypto'
import {
  type AuthInfo,
  isInitializeRequest,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { clientOf } from '../calls/call-identity.ts'
import { untilRead } from './until-read.ts'

/** How many sessions there may be, and for how long. */
export interface SessionLimits {
  readonly maxSessions: number
  /** How long one lasts without a request under way. */
  readonly idleMs: number
  readonly onerror: (error: Error) => void
}

/** A request whose token has been checked. */
export interface CheckedRequest {
  readonly request: Request
  readonly authInfo: AuthInfo
  /** The body as JSON says it; undefined without one. */
  readonly parsedBody: unknown
}

type SessionServer = Awaited<ReturnType<McpServerFactory>>

interface ClientSession {
  readonly id: string
  /** Whom it belongs to. */
  readonly client: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: SessionServer
  /** Requests and streams that are open. */
  underWay: number
  idle: NodeJS.Timeout | undefined
}

/**
 * The sessions of clients of protocol 2025-11-25 and older: a connection over many requests, so that the server can ask
 * and the client can cancel. A session serves only the client that has begun it; for any other it does not exist. It ends
 * with `DELETE`, after a time without a request under way, or when its client begins another and there are too many: the
 * one that it has not used for longest. Its end ends its calls.
 */
export class ClientSessions {
  readonly #factory: McpServerFactory
  readonly #limits: SessionLimits
  /** The one that was used last is the last. */
  readonly #sessions = new Map<string, ClientSession>()
  #beginning = 0

  constructor(factory: McpServerFactory, limits: SessionLimits) {
    this.#factory = factory
    this.#limits = limits
  }

  /** Answers a request of a session, or one that begins a session; undefined when it can be served without. */
  async serve(checked: CheckedRequest): Promise<Response | undefined> {
    const { request, authInfo, parsedBody } = checked
    const client = clientOf({ http: { authInfo } })
    const id = request.headers.get('mcp-session-id')
    if (id === null) {
      const begins = request.method === 'POST' && isInitializeRequest(parsedBody)
      return begins && this.#hasRoomFor(client) ? this.#begin(client, checked) : undefined
    }
    const session = this.#sessions.get(id)
    return session?.client === client ? this.#serveIn(session, checked) : noSession()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => this.#end(session)))
  }

  /** Ends the session of this client that nothing has used for longest, where it takes one to have room. */
  #hasRoomFor(client: string): boolean {
    const { maxSessions } = this.#limits
    if (this.#sessions.size + this.#beginning < maxSessions) return true
    const unused = [...this.#sessions.values()].find(
      (session) => session.client === client && session.underWay === 0,
    )
    if (unused === undefined) return false
    void this.#end(unused)
    return true
  }

  async #begin(client: string, checked: CheckedRequest): Promise<Response> {
    const { request, authInfo } = checked
    const id = randomBytes(32).toString('base64url')
    this.#beginning += 1
    try {
      const server = await this.#factory({ era: 'legacy', authInfo, requestInfo: request })
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => id,
        onsessionclosed: () => this.#end(session),
      })
      const session: ClientSession = { id, client, transport, server, underWay: 0, idle: undefined }
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's transport has no other way
      transport.onerror = this.#limits.onerror
      await server.connect(transport)
      this.#sessions.set(id, session)
      const response = await this.#serveIn(session, checked)
      if (!response.ok) await this.#end(session)
      return response
    } finally {
      this.#beginning -= 1
    }
  }

  #serveIn(session: ClientSession, { request, ...rest }: CheckedRequest): Promise<Response> {
    const { id, transport } = session
    clearTimeout(session.idle)
    session.underWay += 1
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return untilRead(
      () => transport.handleRequest(request, rest),
      () => this.#used(session),
    )
  }

  #used(session: ClientSession): void {
    session.underWay -= 1
    if (session.underWay > 0 || !this.#sessions.has(session.id)) return
    session.idle = setTimeout(() => void this.#end(session), this.#limits.idleMs).unref()
  }

  async #end({ id, idle, server }: ClientSession): Promise<void> {
    clearTimeout(idle)
    this.#sessions.delete(id)
    await server.close().catch(this.#limits.onerror)
  }
}

/** As the protocol has it, so that the client begins a new one. */
function noSession(): Response {
  const message = 'Session not found. Begin a new one with initialize, without Mcp-Session-Id.'
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32_001, message }, id: null },
    { status: 404 },
  )
}
