import { closeTools } from '@smithers/builtin-tools'
import { type AnyDefinedTool, createToolContext, type ToolCallLog } from '@smithers/tool-core'
import type { McpServerFactory } from '@modelcontextprotocol/server'
import { questionStates } from './approvals/question-state.ts'
import type { CallProgress } from './calls/call-progress.ts'
import { CallSlots } from './calls/call-slots.ts'
import type { RunningCall } from './calls/running-call.ts'
import { UnansweredCalls } from './calls/unanswered-calls.ts'
import { createRunJournal } from './log/run-journal.ts'
import { recoverCrashed } from './log/recover-crashed.ts'
import {
  type McpServerOptions,
  type ServerSettings,
  serverSettings,
} from './options/server-options.ts'
import { createSession } from './session/create-session.ts'
import { instructionsFor } from './session/instructions.ts'
import type { ServerParts } from './session/server-parts.ts'
import { builtinBundle } from './tools/builtin-bundle.ts'
import { once } from './calls/once.ts'
import { selectTools } from './tools/select-tools.ts'

/** A server of tools, for {@link serveStdio} and {@link serveHttp}. */
export interface McpToolServer {
  /** The real path of the root. */
  readonly rootDir: string
  /** The run that the calls belong to. */
  readonly runId: string
  readonly log: ToolCallLog
  /** The names of the tools, as clients call them. */
  readonly toolNames: readonly string[]
  /** Where notes for the operator go. */
  readonly warn: (message: string) => void
  /**
   * Makes a server of the SDK for one connection: what its `createMcpHandler` and `serveStdio` take, for a transport of
   * your own.
   */
  readonly session: McpServerFactory
  /** Ends running calls, waits up to 2 seconds for their rows, and closes the built-in tools. The log stays open. */
  close(): Promise<void>
}

const rowGraceMs = 2000

/**
 * Serves tools over the Model Context Protocol, of 2025-11-25 and older as of 2026-07-28. Marks the calls that crashed
 * servers have left in the log as unknown.
 *
 * @throws SmithersError `INVALID_INPUT` for a wrong option or a root that cannot be read; `INVALID_TOOL` for a tool that
 *   cannot be served
 * @example
 * await serveStdio(createMcpServer({ rootDir: '.', ask: ['bash'] }))
 */
export function createMcpServer(options: McpServerOptions): McpToolServer {
  const settings = serverSettings(options)
  const { rootDir, runId, warn } = settings
  const log = options.log ?? createToolContext().log
  const journal = createRunJournal(log)
  const progress = new Map<string, CallProgress>()
  const { tools, close: closeBundle } = servedTools(settings, progress)
  const running = new Set<RunningCall>()
  const parts: ServerParts = {
    settings,
    tools,
    journal,
    states: questionStates(settings.stateKey, settings.questionTtlMs),
    slots: new CallSlots(settings.maxConcurrentCalls),
    unanswered: new UnansweredCalls(settings.repeatWindowMs),
    progress,
    running,
    recovered: recoverCrashed(log, runId).catch((error: unknown) =>
      warn(`The calls of earlier servers could not be marked: ${String(error)}`),
    ),
    instructions: instructionsFor(settings, tools.has('bash')),
  }
  const noteRoots = once(() =>
    warn(`The client offers roots, which are ignored: --root decides, ${rootDir}.`),
  )
  const close = once(async () => {
    for (const call of running) call.abort(new Error('The server is closing.'))
    await within(rowGraceMs, Promise.all([...running].map(({ ended }) => ended)))
    await within(rowGraceMs, closeBundle())
  })
  return {
    rootDir,
    runId,
    log,
    toolNames: [...tools.keys()],
    warn,
    session: () => createSession(parts, noteRoots),
    close,
  }
}

interface ServedTools {
  readonly tools: ServerParts['tools']
  readonly close: () => Promise<void>
}

function servedTools(
  settings: ServerSettings,
  progress: ReadonlyMap<string, CallProgress>,
): ServedTools {
  const { tools: given, only, readOnly, ask, allowNetwork } = settings
  const select = (tools: object, isOpenWorld: (name: string) => boolean | undefined) =>
    selectTools({
      tools: Object.values(tools) as AnyDefinedTool[],
      only,
      readOnly,
      ask,
      isOpenWorld,
    })
  if (given !== undefined) return { tools: select(given, () => undefined), close: async () => {} }
  const bundle = builtinBundle(settings, ({ toolCallId, bytes }) =>
    progress.get(toolCallId)?.printed(bytes),
  )
  return {
    tools: select(bundle, (name) => name === 'bash' && allowNetwork),
    close: () => closeTools(bundle),
  }
}

/** Waits for work, but no longer than that. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  await Promise.race([work.catch(() => {}), promise])
  clearTimeout(timer)
}
