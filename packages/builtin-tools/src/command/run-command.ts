import type { OnNetworkDecision, OutputChunk, RunResult } from '@smithers/sandbox'
import { adoptError, type ToolContext } from '@smithers/tool-core'
import { type BashInput, commandOf } from './bash-input.ts'
import { failure, leftBehindNotes, waiting, withNotes } from './bash-result.ts'
import { type BundleOptions, limitsFor } from '../bundle/bundle-options.ts'
import { commandNetwork } from './command-network.ts'
import { noteForModel } from '../model/model-notes.ts'
import { beginCommandPart, endedCommand, traceEnvironment } from '../bundle/command-part.ts'
import { withSandbox } from '../bundle/sandbox-for-context.ts'

/** How one command of `bash` differs from the usual. */
export interface CommandRun {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly onOutput?: (chunk: OutputChunk) => void
  readonly onDecision: OnNetworkDecision | undefined
}

/** Runs a command as a bundle and the context of a call have it, and reports it to `onCommand`. */
export async function runCommand(
  input: BashInput,
  ctx: ToolContext,
  options: BundleOptions,
  { signal, timeoutMs, onOutput, onDecision }: CommandRun,
): Promise<RunResult> {
  const { cmd, args } = commandOf(input)
  const cwd = input.opts?.cwd
  const part = beginCommandPart(ctx, cmd)
  try {
    const running = withSandbox(ctx, options, (sandbox) =>
      sandbox.run(cmd, args, {
        ...(cwd === undefined ? {} : { cwd }),
        ...(input.command === undefined ? {} : { checkScript: true }),
        maxOutputBytes: limitsFor(ctx, options).maxOutputBytes,
        timeoutMs,
        // Return one merged stream so errors appear where they were printed. `onCommand` promises both streams.
        mergeOutput: options.onCommand === undefined,
        signal,
        onOutput,
        onDecision,
        env: traceEnvironment(part, options),
      }),
    )
    const result = await endedCommand(part, running)
    options.onCommand?.({ toolCallId: ctx.toolCallId, cmd, args, result })
    return result
  } catch (error) {
    // The tool does nothing else, so what the sandbox says of the effect is true of the call.
    throw adoptError(error)
  }
}

/** What differs between the tools that run commands. */
export interface AnswerOptions {
  /** Whether the model can leave a command running. */
  readonly hasBackground?: boolean
  /** What ends the command. @default the call's own */
  readonly signal?: AbortSignal
  readonly onOutput?: (chunk: OutputChunk) => void
}

/**
 * Runs a command that the model waits for.
 *
 * @returns what the command printed, when it succeeded
 * @throws SmithersError otherwise
 */
export async function answerCommand(
  input: BashInput,
  ctx: ToolContext,
  options: BundleOptions,
  {
    hasBackground = false,
    signal = ctx.abortSignal,
    onOutput = observer(ctx, options),
  }: AnswerOptions = {},
): Promise<string> {
  const { cmd, args } = commandOf(input)
  const longestTimeoutMs = limitsFor(ctx, options).timeoutMs
  const network = commandNetwork(ctx, options, [cmd, ...args])
  const result = await runCommand(input, ctx, options, {
    signal,
    timeoutMs: Math.min(input.timeoutMs ?? longestTimeoutMs, longestTimeoutMs),
    onDecision: network.onDecision,
    ...(onOutput === undefined ? {} : { onOutput }),
  })
  const { notes, waits } = await network.settle(result)
  if (waits !== undefined) throw waiting(waits, result)
  const ended = leftBehindNotes(result, hasBackground)
  if (result.status === 'exited' && result.exitCode === 0) {
    noteForModel(ctx.toolCallId, ended[0])
    return withNotes(result, notes)
  }
  throw failure(input, result, { notes: [...notes, ...ended], longestTimeoutMs, hasBackground })
}

/** What passes the output of a call on to the bundle's own observer. */
function observer(
  { toolCallId }: ToolContext,
  { onOutput }: BundleOptions,
): ((chunk: OutputChunk) => void) | undefined {
  return onOutput && ((chunk) => onOutput({ toolCallId, ...chunk }))
}

/** Says "in the sandbox" only where a call without isolation of files is refused: the model acts on what it reads. */
export function whereItRuns({ isolation }: BundleOptions): string {
  const required = typeof isolation === 'object' ? isolation.require : []
  if (isolation === 'require' || required.includes('files')) {
    return ' in a sandbox that keeps it inside the root directory'
  }
  return isolation === 'none'
    ? ', starting in the root directory, with all rights of the user who runs this agent'
    : ', starting in the root directory'
}
