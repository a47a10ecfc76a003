import { constants } from 'node:os'
import type { RunResult } from '@smithers/sandbox'
import {
  adoptError,
  type DefinedTool,
  defineTool,
  SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import { z } from 'zod'
import { withSandbox } from './sandbox-for-context.ts'
import { defaultOptions, limitsFor, type BundleOptions } from './bundle-options.ts'

/** Input of {@link bash}. */
export interface BashInput {
  /** Executable name or path; at most 8 192 characters. */
  readonly cmd: string
  /** At most 128 arguments of at most 8 192 characters each. */
  readonly args?: string[] | undefined
  readonly opts?: { readonly cwd?: string | undefined } | undefined
}

/** Only the operating system limits the total length of the arguments. */
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
 * Creates the tool `bash` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_COMMAND_FAILED` for a non-zero exit or a signal, with the output's tail in the message;
 * `TOOL_TIMEOUT`, `TOOL_ABORTED`, `TOOL_SPAWN_FAILED`, `TOOL_PATH_ESCAPE`, `TOOL_NETWORK_DISABLED`,
 * `TOOL_GIT_REMOTE_DISABLED`, `TOOL_ISOLATION_UNAVAILABLE`
 */
export function createBashTool(options: BundleOptions): DefinedTool<BashInput, string> {
  return defineTool({
    name: 'bash',
    description:
      `Run an executable with arguments${whereItRuns(options)}. Nothing is parsed by a shell: for pipes, redirects or several ` +
      'commands use { cmd: "sh", args: ["-lc", "..."] }. Returns stdout and stderr; a non-zero exit is an error. ' +
      'Background processes end with the command.',
    schema,
    sideEffect: true,
    idempotent: false,
    // Without a network, a command changes only files under the root, visible with `git diff`.
    effectScope: (task) => (opensNetwork(options, task) ? 'external' : 'workspace'),
    async execute({ cmd, args, opts }, ctx) {
      const result = await runInSandbox({ cmd, args, opts }, ctx, options)
      options.onCommand?.({ toolCallId: ctx.toolCallId, cmd, args: args ?? [], result })
      if (result.status === 'exited' && result.exitCode === 0) return withViolations(result)
      throw failure(cmd, result)
    },
  })
}

/** Whether a command may change something that no `git diff` shows. */
function opensNetwork(
  { network, allowNetwork }: BundleOptions,
  task: { readonly allowNetwork: boolean },
): boolean {
  return network !== undefined || (allowNetwork ?? task.allowNetwork)
}

async function runInSandbox(
  { cmd, args = [], opts }: BashInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<RunResult> {
  const { maxOutputBytes, timeoutMs } = limitsFor(ctx, options)
  try {
    return await withSandbox(ctx, options, (sandbox) =>
      sandbox.run(cmd, args, {
        ...(opts?.cwd === undefined ? {} : { cwd: opts.cwd }),
        maxOutputBytes,
        timeoutMs,
        // Return one merged stream so errors appear where they were printed. `onCommand` promises both streams.
        mergeOutput: options.onCommand === undefined,
        signal: ctx.abortSignal,
      }),
    )
  } catch (error) {
    // The tool does nothing else, so what the sandbox says of the effect is true of the call.
    throw adoptError(error)
  }
}

/** Says "in the sandbox" only where a call without isolation of files is refused: the model acts on what it reads. */
function whereItRuns({ isolation }: BundleOptions): string {
  const required = typeof isolation === 'object' ? isolation.require : []
  if (isolation === 'require' || required.includes('files')) {
    return ' in a sandbox that keeps it inside the root directory'
  }
  return isolation === 'none'
    ? ', starting in the root directory, with all rights of the user who runs this agent'
    : ', starting in the root directory'
}

/** Runs an executable with arguments, isolated as the options and the machine allow. */
export const bash: DefinedTool<BashInput, string> = createBashTool(defaultOptions)

/**
 * The output, with what the sandbox undid after it: the model must know that a file is not as it wrote it, and the log
 * must say what was planted.
 */
function withViolations(result: RunResult): string {
  const messages = messagesOf(result)
  if (messages.length === 0) return result.output
  const gap = result.output === '' || result.output.endsWith('\n') ? '' : '\n'
  return `${result.output}${gap}${messages.map((message) => `[sandbox] ${message}`).join('\n')}\n`
}

function messagesOf({ violations }: RunResult): readonly string[] {
  return violations.map(({ message }) => message)
}

/** A model sees only the message, so it includes how the command ended and the end of its output. */
function failure(cmd: string, result: RunResult): SmithersError {
  const details = {
    ...result.error?.details,
    status: result.status,
    exitCode: result.exitCode,
    signal: result.signal,
    durationMs: Math.round(result.durationMs),
    enforced: result.enforced,
    ...(result.network === undefined ? {} : { network: result.network }),
    ...(result.violations.length === 0 ? {} : { violations: result.violations }),
  }
  if (result.error !== undefined) {
    const { code, effect } = result.error
    const message = [inToolsForm(result.error), ...messagesOf(result)].join(' ')
    return new SmithersError(code, withOutput(message, result), {
      details,
      cause: result.error,
      ...(effect === undefined ? {} : { effect }),
    })
  }
  // The hint may be what a violation says.
  const reasons = new Set([
    ...messagesOf(result),
    ...(result.hint === undefined ? [] : [result.hint]),
  ])
  const message = [`"${cmd}" ${ending(result)}.`, ...reasons].join(' ')
  return new SmithersError('TOOL_COMMAND_FAILED', withOutput(message, result), { details })
}

/** Turns the sandbox's advice, `run("sh", [...])`, into a call of this tool. */
function inToolsForm({ message, details }: NonNullable<RunResult['error']>): string {
  const { instead } = details
  if (!Array.isArray(instead)) return message
  const [cmd, ...args] = instead.map((word) => JSON.stringify(word))
  const list = `[${args.join(', ')}]`
  return message.replace(`run(${cmd}, ${list})`, () => `{ cmd: ${cmd}, args: ${list} }`)
}

/**
 * Signals that end commands in practice. The name of any other would mislead: programs use the numbers from 129 on for
 * errors of their own, as git does with 129 for wrong usage.
 */
const endingSignals: ReadonlySet<string> = new Set([
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGPIPE',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
])

function ending({ exitCode, signal }: RunResult): string {
  if (signal !== null) return `was ended by ${signal}`
  // Shells and process namespaces report a signal as 128 plus its number, which a program can also return by itself.
  const number = (exitCode ?? 0) - 128
  const name = Object.entries(constants.signals).find(
    ([each, value]) => value === number && endingSignals.has(each),
  )?.[0]
  return `exited with code ${exitCode}${name === undefined ? '' : `, as after ${name}`}`
}

function withOutput(message: string, { output, status }: RunResult): string {
  if (status === 'refused' || status === 'spawn-error') return message
  if (output === '') return `${message} It printed nothing.`
  if (output.trim() === '') return `${message} It printed only blanks.`
  return `${message} Output:\n${output}`
}
