import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** A loopback server that counts connections. */
export interface IssueTracker {
  readonly url: string
  connections(): number
  close(): Promise<void>
}

/** Starts the server that the agent is asked to call. Its connections show whether the call was really refused. */
export async function startIssueTracker(): Promise<IssueTracker> {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/issues/7`,
    connections: () => connections,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
