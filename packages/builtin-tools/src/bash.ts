import { constants } from 'node:os'
import type { RunResult } from '@smithers/sandbox'
import { type DefinedTool, defineTool, SmithersError } from '@smithers/tool-core'
import { z } from 'zod'
import { sandboxFor } from './sandbox-for-context.ts'
import { defaultOptions, limitsFor, type BundleOptions } from './bundle-options.ts'

/** Input of {@link bash}. */
export interface BashInput {
  /** Executable name or path; at most 8 192 characters. */
  readonly cmd: string
  /** At most 128 arguments of at most 8 192 characters each. */
  readonly args?: string[] | undefined
  readonly opts?: { readonly cwd?: string | undefined } | undefined
}

/** S0 §bash; `cwd` is ours. There is no limit on the sum below the operating system's. */
const maxCommandLength = 8_192
const maxArguments = 128
const maxArgumentLength = 8_192
const maxCwdLength = 1_024

const schema = z.object({
  cmd: z
    .string()
    .min(1)
    .max(maxCommandLength)
    .describe('Executable name or path. No shell parsing.'),
  args: z
    .array(z.string().max(maxArgumentLength))
    .max(maxArguments)
    .optional()
    .describe('Arguments, one per entry.'),
  opts: z
    .object({
      cwd: z.string().max(maxCwdLength).optional().describe('Working directory under the root.'),
    })
    .optional(),
})

/**
 * Creates the tool `bash` with other settings.
 *
 * @throws SmithersError `TOOL_COMMAND_FAILED` for a non-zero exit or a signal, with the output's tail in the message;
 * `TOOL_TIMEOUT`, `TOOL_ABORTED`, `TOOL_SPAWN_FAILED`, `TOOL_PATH_ESCAPE`, `TOOL_NETWORK_DISABLED`,
 * `TOOL_GIT_REMOTE_DISABLED`, `TOOL_ISOLATION_UNAVAILABLE`
 */
export function createBashTool(settings: BundleOptions): DefinedTool<BashInput, string> {
  return defineTool({
    name: 'bash',
    description:
      'Run an executable with arguments in the sandbox. Nothing is parsed by a shell: for pipes, redirects or several ' +
      'commands use { cmd: "sh", args: ["-lc", "..."] }. Returns stdout and stderr; a non-zero exit is an error. ' +
      'Background processes end with the command.',
    schema,
    sideEffect: true,
    idempotent: false,
    // What a command without a network changes is under the root, visible with `git diff`.
    effectScope: (task) =>
      (settings.allowNetwork ?? task.allowNetwork) ? 'external' : 'workspace',
    async execute({ cmd, args, opts }, ctx) {
      const sandbox = await sandboxFor(ctx, settings)
      const { maxOutputBytes, timeoutMs } = limitsFor(ctx, settings)
      const result = await sandbox.run(cmd, args ?? [], {
        ...(opts?.cwd === undefined ? {} : { cwd: opts.cwd }),
        maxOutputBytes,
        timeoutMs,
        // The text is one: an error stands where it was printed. Who watches commands is promised both streams.
        mergeOutput: settings.onCommand === undefined,
        signal: ctx.abortSignal,
      })
      settings.onCommand?.({ toolCallId: ctx.toolCallId, cmd, args: args ?? [], result })
      if (result.status === 'exited' && result.exitCode === 0) return result.output
      throw failure(cmd, result)
    },
  })
}

/** Runs an executable with arguments in the sandbox (S0 §bash). */
export const bash: DefinedTool<BashInput, string> = createBashTool(defaultOptions)

/** The message is all that a model sees, so it holds how the command ended and the end of what it printed. */
function failure(cmd: string, result: RunResult): SmithersError {
  const details = {
    ...result.error?.details,
    status: result.status,
    exitCode: result.exitCode,
    signal: result.signal,
    durationMs: Math.round(result.durationMs),
    enforced: result.enforced,
    ...(result.violations.length === 0 ? {} : { violations: result.violations }),
  }
  if (result.error !== undefined) {
    const { code, effect } = result.error
    return new SmithersError(code, withOutput(inToolsForm(result.error), result), {
      details,
      cause: result.error,
      ...(effect === undefined ? {} : { effect }),
    })
  }
  const outOfMemory = result.violations.find(({ rule }) => rule === 'memory')
  const reasons = [outOfMemory?.message, result.hint].filter((reason) => reason !== undefined)
  const message = [`"${cmd}" ${ending(result)}.`, ...reasons].join(' ')
  return new SmithersError('TOOL_COMMAND_FAILED', withOutput(message, result), { details })
}

/** The sandbox advises in its own form, `run("sh", [...])`; a model calls this tool. */
function inToolsForm({ message, details }: NonNullable<RunResult['error']>): string {
  const { instead } = details
  if (!Array.isArray(instead)) return message
  const [cmd, ...args] = instead.map((word) => JSON.stringify(word))
  const list = `[${args.join(', ')}]`
  return message.replace(`run(${cmd}, ${list})`, () => `{ cmd: ${cmd}, args: ${list} }`)
}

function ending({ exitCode, signal }: RunResult): string {
  if (signal !== null) return `was ended by ${signal}`
  // The way of shells, and of a process namespace, to pass on that a signal ended the command.
  const number = (exitCode ?? 0) - 128
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0]
  return `exited with code ${exitCode}${name === undefined ? '' : ` (128 + ${number}: ${name})`}`
}

function withOutput(message: string, { output, status }: RunResult): string {
  if (status === 'refused' || status === 'spawn-error') return message
  if (output === '') return `${message} It printed nothing.`
  if (output.trim() === '') return `${message} It printed only blanks.`
  return `${message} Output:\n${output}`
}
