import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import {
  getOAuthProtectedResourceMetadataUrl,
  hostHeaderValidationResponse,
  oauthMetadataResponse,
  originValidationResponse,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import type { McpToolServer } from '../create-mcp-server.ts'
import { addressName, hostNames, originNames } from './addressed-names.ts'
import { createRequestAnswers, type RequestAnswers } from './answer-requests.ts'
import { fixedTokenVerifier, randomToken } from './bearer-token.ts'
import { checkHttpOptions, type ServeHttpOptions } from './http-options.ts'
import { forWebPages } from './web-pages.ts'

/** A server over HTTP. */
export interface HttpServer {
  /** The address for clients; by the first name of `oauth` or `allowedHosts` where `host` is every address. */
  readonly url: string
  /** The bearer token for clients; undefined with `oauth`. */
  readonly token: string | undefined
  /** Ends running calls, waits up to 2 seconds for their rows, and stops listening. */
  close(): Promise<void>
}

const path = '/mcp'

/**
 * Serves clients over streamable HTTP at `/mcp`. Requests of protocol 2026-07-28 are served each by itself: any process
 * with the same log, root, `runId` and `stateKey` can serve the next one. A client of an older protocol gets a session,
 * which this process holds. Refuses a request that addresses another host, comes from a web page that is not listed, or
 * has no valid token.
 *
 * @throws SmithersError `INVALID_INPUT` for a wrong option, and for an address that other machines reach without a token
 *   or `oauth`, or without a name
 * @example
 * const { url, token } = await serveHttp(server, { port: 8765 })
 */
export async function serveHttp(
  server: McpToolServer,
  options: ServeHttpOptions,
): Promise<HttpServer> {
  checkHttpOptions(options)
  const { port, host = '127.0.0.1', oauth } = options
  const token = oauth === undefined ? (options.token ?? randomToken()) : undefined
  const answers = createRequestAnswers(server, options)
  const fetch = guarded(answers, { ...options, token })
  const listener = createAdaptorServer({ fetch, overrideGlobalObjects: false })
  listener.listen(port, host)
  await Promise.race([once(listener, 'listening'), failed(once(listener, 'error'))])
  const { port: bound } = listener.address() as AddressInfo
  let closing: Promise<void> | undefined
  return {
    url: `http://${addressName(options)}:${bound}${path}`,
    token,
    close: () => (closing ??= close(server, answers, listener)),
  }
}

async function close(
  server: McpToolServer,
  answers: RequestAnswers,
  listener: ReturnType<typeof createAdaptorServer>,
): Promise<void> {
  await server.close()
  await answers.close()
  const ended = once(listener, 'close')
  listener.close()
  if ('closeAllConnections' in listener) listener.closeAllConnections()
  await ended
}

async function failed(error: Promise<unknown[]>): Promise<never> {
  const [cause] = await error
  throw cause
}

/** Puts the checks of a request before its answer. */
function guarded(
  answers: RequestAnswers,
  options: ServeHttpOptions,
): (request: Request) => Promise<Response> {
  const { token, oauth } = options
  const hosts = [...hostNames(options)]
  const origins = [...originNames(options)]
  const metadataUrl = oauth && getOAuthProtectedResourceMetadataUrl(oauth.resource)
  const authenticate = requireBearerAuth({
    verifier: oauth ?? fixedTokenVerifier(token ?? randomToken()),
    ...(oauth !== undefined && {
      expectedResource: oauth.resource,
      requiredScopes: [...(oauth.requiredScopes ?? [])],
      ...(oauth.metadata && metadataUrl !== undefined && { resourceMetadataUrl: metadataUrl }),
    }),
  })
  const serve = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== path) return new Response('Not found', { status: 404 })
    const auth = await authenticate(request)
    return auth instanceof Response ? auth : answers.answer(request, auth)
  }
  const servePage = forWebPages(serve)
  return async (request) => {
    const refused =
      hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, origins)
    if (refused !== undefined) return refused
    const document =
      oauth?.metadata &&
      oauthMetadataResponse(request, {
        oauthMetadata: oauth.metadata,
        resourceServerUrl: oauth.resource,
      })
    if (document !== undefined) return document
    return request.headers.has('origin') ? servePage(request) : serve(request)
  }
}
