import type { Readable, Writable } from 'node:stream'
import {
  serveStdio as serveSdkStdio,
  StdioServerTransport,
} from '@modelcontextprotocol/server/stdio'
import type { McpToolServer } from '../create-mcp-server.ts'
import { printableLine, shortened } from '../text/printable.ts'
import { type ProtocolOutput, takeStandardOutput } from './protocol-output.ts'

/** Options of {@link serveStdio}. */
export interface ServeStdioOptions {
  /** @default standard input */
  readonly input?: Readable | undefined
  /** @default standard output, which then carries the protocol alone */
  readonly output?: Writable | undefined
}

/** A server on standard input and output. */
export interface StdioServer {
  /** Settled when the client has closed the input, or `close` was called, and the calls have ended. */
  readonly closed: Promise<void>
  /** Ends running calls, waits up to 2 seconds for their rows, and stops serving. */
  close(): Promise<void>
}

/** A longer message ends the connection. A tool refuses shorter ones by its own limits, with an answer. */
const maxMessageBytes = 32 * 1024 * 1024

/**
 * Serves one client over standard input and output. Resolves when it serves. The end of the input stops running calls.
 *
 * @example
 * const { closed } = await serveStdio(server)
 * await closed
 */
export async function serveStdio(
  server: McpToolServer,
  { input = process.stdin, output }: ServeStdioOptions = {},
): Promise<StdioServer> {
  const own: ProtocolOutput | undefined = output === undefined ? takeStandardOutput() : undefined
  const stream = output ?? own?.stream
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const transport = new StdioServerTransport(input, stream, { maxBufferSize: maxMessageBytes })
  const handle = serveSdkStdio(server.session, {
    transport,
    onerror: (error) => server.warn(`stdio: ${shortened(printableLine(error.message), 500)}`),
  })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= end())
  const end = async (): Promise<void> => {
    await server.close()
    await handle.close().catch(() => {})
    own?.release()
    resolve()
  }
  for (const event of ['end', 'close', 'error']) input.once(event, () => void close())
  // A client that has closed its side reads no more answers.
  stream?.once('error', () => void close())
  return { closed, close }
}
