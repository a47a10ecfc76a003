import type { Server } from '@modelcontextprotocol/server'
import { listLogResources, listLogTemplates, readLogResource } from '../log/log-resources.ts'
import { version } from '../version.ts'
import { answerCall } from './answer-call.ts'
import { CallServer } from './call-server.ts'
import type { ServerParts } from './server-parts.ts'

/** Tools and the list of resources never change while a server runs. */
const cacheMs = 3_600_000

/** A server of the SDK for one connection, or for one request over HTTP. */
export function createSession(parts: ServerParts, noteRoots: () => void): Server {
  const { settings, tools, journal, states } = parts
  const { resources, questionTtlMs, runId } = settings
  const fixed = { ttlMs: cacheMs, cacheScope: 'private' } as const
  const server = new CallServer(
    { name: 'smithers', title: 'Smithers tools', version },
    {
      capabilities: { tools: {}, ...(resources && { resources: {} }) },
      instructions: parts.instructions,
      cacheHints: { 'tools/list': fixed, 'resources/list': fixed },
      inputRequired: { roundTimeoutMs: questionTtlMs },
      requestState: { verify: (state, ctx) => states.verify(state, ctx) },
    },
  )
  server.oninitialized = () => {
    if (server.getClientCapabilities()?.roots !== undefined) noteRoots()
  }
  const closed = new AbortController()
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's server has no other way
  server.onclose = () => closed.abort(new Error('The connection has ended.'))
  const listed = [...tools.values()].map(({ listed: tool }) => tool)
  server.setRequestHandler('tools/list', () => ({ tools: listed }))
  server.setRequestHandler('tools/call', ({ params }, ctx) =>
    answerCall(parts, { server, ctx, closed: closed.signal }, params),
  )
  if (resources) {
    server.setRequestHandler('resources/list', listLogResources)
    server.setRequestHandler('resources/templates/list', listLogTemplates)
    server.setRequestHandler('resources/read', ({ params }) =>
      readLogResource(journal.log, runId, params.uri),
    )
  }
  return server
}
