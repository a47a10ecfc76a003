import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { SmithersError } from '@smithers/tool-core'
import { createViewer, type ViewerOptions } from './create-viewer.ts'

/** Options of {@link serveViewer}. */
export interface ServeViewerOptions extends ViewerOptions {
  /** @default 0, a free one */
  readonly port?: number | undefined
  /** A name or address of this machine's loopback: `127.0.0.1`, `::1` or `localhost`. @default '127.0.0.1' */
  readonly host?: string | undefined
}

/** A viewer that serves. */
export interface ServedViewer {
  /** The address to open, with the token in its fragment. Show it to the user alone. */
  readonly url: string
  /** The address without the token. */
  readonly origin: string
  /** The secret of every request for data. */
  readonly token: string
  readonly port: number
  /** Ends the server and what it answers. Leaves the log open. */
  close(): Promise<void>
}

/**
 * Serves the page over a log on this machine alone.
 *
 * @throws SmithersError `INVALID_INPUT` for a host that other machines can reach, and other options; the error of the
 *   system when the port is taken.
 * @example
 * const viewer = await serveViewer({ log })
 * console.log(viewer.url)
 */
export async function serveViewer(options: ServeViewerOptions): Promise<ServedViewer> {
  const { port = 0, host = '127.0.0.1' } = options
  const address = loopbackOf(host)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new SmithersError('INVALID_INPUT', `port must be from 0 to 65535, got ${port}.`)
  }
  const server = createServer()
  await listen(server, port, address)
  const { port: taken } = server.address() as AddressInfo
  const name = address === '::1' ? '[::1]' : address
  const hosts = [`${name}:${taken}`, `localhost:${taken}`]
  const viewer = createViewer({ ...options, hosts })
  const answer = getRequestListener(viewer.fetch, { overrideGlobalObjects: false })
  server.on('request', (request, response) => void answer(request, response))
  const origin = `http://${name}:${taken}`
  // What the page asks for first is read while the browser starts. A failure is said when the page asks.
  const first = new Request(`${origin}/api/timeline`, {
    headers: { Host: `${name}:${taken}`, Authorization: `Bearer ${viewer.token}` },
  })
  setImmediate(() => void viewer.fetch(first))
  return {
    url: `${origin}/#token=${viewer.token}`,
    origin,
    token: viewer.token,
    port: taken,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}

function loopbackOf(host: string): string {
  const address = host === 'localhost' ? '127.0.0.1' : host.replace(/^\[(.*)\]$/, '$1')
  if (address === '::1' || /^127(?:\.\d{1,3}){3}$/.test(address)) return address
  throw new SmithersError(
    'INVALID_INPUT',
    `The viewer serves this machine alone, so host must be 127.0.0.1, ::1 or localhost, got ${JSON.stringify(host)}. ` +
      'To see it from another machine, use an SSH tunnel with the same port at both ends: ssh -L PORT:127.0.0.1:PORT THIS-MACHINE, and open the printed address there.',
  )
}

async function listen(server: Server, port: number, address: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
