import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { type AnyDefinedTool, SmithersError, type ToolCallLog } from '@smithers/tool-core'
import { z } from 'zod'

/** Options of {@link createMcpServer}. */
export interface McpServerOptions {
  /** The directory that the tools work in. It must exist; no client can change it. */
  readonly rootDir: string
  /**
   * The tools to serve, in place of the built-in ones. Spread `createBuiltinTools` to serve both.
   *
   * @default read, write, edit, replace, grep, glob and bash
   */
  readonly tools?: Readonly<Record<string, AnyDefinedTool>> | undefined
  /** The names of the tools to serve, of all that there are. @default all */
  readonly only?: readonly string[] | undefined
  /** Serve only tools without side effect. @default false */
  readonly readOnly?: boolean | undefined
  /** The names of tools whose calls a person approves. @default none but those that ask by themselves */
  readonly ask?: readonly string[] | undefined
  /**
   * Who is asked. `'client'`: the person at the MCP client, where the client can ask. `'log'`: the call answers that it
   * waits; the approval is decided with `resolveToolApproval` or `smithers approve`, and the agent makes the call again.
   *
   * @default 'client'
   */
  readonly approveWith?: 'client' | 'log' | undefined
  /** Whether commands may use the network. @default false */
  readonly allowNetwork?: boolean | undefined
  /** How strongly the operating system must confine commands. @default 'auto' */
  readonly isolation?: 'auto' | 'require' | 'none' | undefined
  /** Limit of a file read and of an output, in bytes, at most 10 MiB. @default 200_000 */
  readonly maxOutputBytes?: number | undefined
  /** Time limit of one command or search, in milliseconds, at most one hour. @default 60_000 */
  readonly toolTimeoutMs?: number | undefined
  /** Globs that no tool can read or write, such as `.env*`. Only for the server's own built-in tools. @default none */
  readonly deny?: readonly string[] | undefined
  /** Where calls are journaled. It stays open when the server closes. @default a log in memory */
  readonly log?: ToolCallLog | undefined
  /** The run that the calls belong to; processes that serve one address share it. @default `mcp-` and a random id */
  readonly runId?: string | undefined
  /**
   * Seals the state of questions; at least 32 bytes, shared by processes that serve one address.
   *
   * @default 32 random bytes
   */
  readonly stateKey?: string | undefined
  /** How long a question to the person at the client can be answered, in milliseconds. @default 3_600_000 (one hour) */
  readonly questionTtlMs?: number | undefined
  /**
   * How long an equal call of a tool that is not idempotent counts as the same call when its client left before the
   * answer, in milliseconds. Kept in memory. @default 0: never
   */
  readonly repeatWindowMs?: number | undefined
  /** Serve the log of the run as resources. @default true */
  readonly resources?: boolean | undefined
  /** Calls that run at once; later ones wait. @default 64 */
  readonly maxConcurrentCalls?: number | undefined
  /** Where notes for the operator go. @default one line on stderr each */
  readonly warn?: ((message: string) => void) | undefined
}

/** {@link McpServerOptions}, checked and complete. */
export interface ServerSettings {
  /** The real path of the root. */
  readonly rootDir: string
  readonly tools: Readonly<Record<string, AnyDefinedTool>> | undefined
  readonly only: readonly string[] | undefined
  readonly readOnly: boolean
  readonly ask: readonly string[]
  readonly approveWith: 'client' | 'log'
  readonly allowNetwork: boolean
  readonly isolation: 'auto' | 'require' | 'none'
  readonly maxOutputBytes: number
  readonly toolTimeoutMs: number
  readonly deny: readonly string[]
  readonly runId: string
  readonly stateKey: string | Uint8Array
  readonly questionTtlMs: number
  readonly repeatWindowMs: number
  readonly resources: boolean
  readonly maxConcurrentCalls: number
  readonly warn: (message: string) => void
}

const names = z.array(z.string().min(1))
const longestTimerMs = 2 ** 31 - 1

const schema = z.strictObject({
  rootDir: z.string().min(1),
  tools: z.record(z.string(), z.custom<AnyDefinedTool>()).optional(),
  only: names.min(1).optional(),
  readOnly: z.boolean().default(false),
  ask: names.default([]),
  approveWith: z.enum(['client', 'log']).default('client'),
  allowNetwork: z.boolean().default(false),
  isolation: z.enum(['auto', 'require', 'none']).default('auto'),
  maxOutputBytes: z
    .int()
    .min(1)
    .max(10 * 1024 * 1024)
    .default(200_000),
  toolTimeoutMs: z.int().min(1).max(3_600_000).default(60_000),
  deny: names.default([]),
  log: z.custom<ToolCallLog>().optional(),
  runId: z.string().min(1).optional(),
  stateKey: z
    .string()
    .refine((key) => Buffer.byteLength(key) >= 32, 'must have at least 32 bytes')
    .optional(),
  questionTtlMs: z.int().min(1000).max(longestTimerMs).default(3_600_000),
  repeatWindowMs: z.int().min(0).max(longestTimerMs).default(0),
  resources: z.boolean().default(true),
  maxConcurrentCalls: z.int().min(1).default(64),
  warn: z.custom<(message: string) => void>((value) => typeof value === 'function').optional(),
})

/**
 * Checks and completes the options of a server. A wrong one ends the program before it serves: a misspelt restriction
 * must not be ignored.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function serverSettings(options: McpServerOptions): ServerSettings {
  const parsed = schema.safeParse(options)
  if (!parsed.success) throw wrong(`MCP server: ${z.prettifyError(parsed.error)}`)
  const { log: _log, ...given } = parsed.data
  if (given.tools !== undefined && given.deny.length > 0) {
    throw wrong(
      'MCP server: deny applies to the built-in tools that the server makes. With tools of your own, pass files: { deny } to createBuiltinTools.',
    )
  }
  return Object.freeze({
    ...given,
    tools: given.tools,
    only: given.only,
    rootDir: checkedRoot(given.rootDir),
    runId: given.runId ?? `mcp-${crypto.randomUUID()}`,
    stateKey: given.stateKey ?? crypto.getRandomValues(new Uint8Array(32)),
    warn: given.warn ?? noteOnStderr,
  })
}

function checkedRoot(path: string): string {
  try {
    if (!statSync(path).isDirectory()) throw new Error('it is not a directory')
    accessSync(path, constants.R_OK | constants.X_OK)
    return realpathSync(path)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw wrong(`The root ${JSON.stringify(path)} cannot be served: ${why}.`, cause)
  }
}

function wrong(message: string, cause?: unknown): SmithersError {
  return new SmithersError('INVALID_INPUT', message, { effect: 'none', cause })
}

function noteOnStderr(message: string): void {
  process.stderr.write(`mcp-server: ${message}\n`)
}
