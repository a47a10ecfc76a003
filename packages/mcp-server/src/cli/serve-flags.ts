import type { ToolCallLog } from '@smithers/tool-core'
import { createMcpServer, type McpToolServer } from '../create-mcp-server.ts'
import type { McpServerOptions } from '../options/server-options.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'
import { httpFlags } from './http-flags.ts'
import { openLog } from './open-log.ts'
import type { ServerFlags } from './server-command.ts'
import { secretFrom } from './trusted-file.ts'

/**
 * Serves as the command line says, until its client leaves or `signal` is aborted.
 *
 * @throws SmithersError `INVALID_INPUT` for flags that are wrong together; what the log throws
 */
export async function serveFlags(flags: ServerFlags, signal: AbortSignal): Promise<void> {
  const http = await httpFlags(flags)
  const { stateKeyFile, root } = flags
  const stateKey =
    stateKeyFile === undefined ? undefined : secretFrom('--state-key-file', stateKeyFile, root)
  let log: ToolCallLog | undefined
  try {
    log = flags.log === undefined ? undefined : await openLog(flags.log, root)
    const server = createMcpServer({ ...serverOptions(flags), stateKey, log })
    if (http === undefined) await untilEnd(await serveStdio(server), signal)
    else await overHttp(server, http, signal)
  } finally {
    await log?.close()
  }
}

function serverOptions(flags: ServerFlags): McpServerOptions {
  const { root, tools, readOnly, ask, approveWith, allowNetwork, isolation, repeatWindow } = flags
  const { maxOutputBytes, toolTimeoutMs, deny, run, resources } = flags
  return {
    rootDir: root,
    only: tools,
    readOnly,
    ask,
    approveWith,
    allowNetwork,
    isolation,
    maxOutputBytes,
    toolTimeoutMs,
    deny,
    runId: run,
    repeatWindowMs: repeatWindow === undefined ? undefined : repeatWindow * 1000,
    resources,
  }
}

interface Closable {
  readonly closed?: Promise<void>
  close(): Promise<void>
}

async function untilEnd(server: Closable, signal: AbortSignal): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  if (signal.aborted) resolve()
  await Promise.race([ended, ...(server.closed === undefined ? [] : [server.closed])])
  await server.close()
}

async function overHttp(
  server: McpToolServer,
  options: NonNullable<Awaited<ReturnType<typeof httpFlags>>>,
  signal: AbortSignal,
): Promise<void> {
  const { serveHttp } = await import('../http/serve-http.ts')
  const http = await serveHttp(server, options)
  process.stdout.write(`${http.url}\n`)
  const isOwn = options.token === undefined && http.token !== undefined
  if (isOwn) process.stdout.write(`Authorization: Bearer ${http.token}\n`)
  await untilEnd(http, signal)
}
