import type { RunResult } from '@smithers/sandbox'
import { adoptError, type DefinedTool, defineTool, type ToolContext } from '@smithers/tool-core'
import { type BashInput, bashSchema, commandOf } from './bash-input.ts'
import { failure, waiting, withNotes } from './bash-result.ts'
import { type BundleOptions, defaultOptions, limitsFor, modelBudget } from './bundle-options.ts'
import { modelText } from './model-text.ts'
import { type CommandNetwork, commandNetwork } from './command-network.ts'
import { opensNetwork } from './network-of-call.ts'
import { withSandbox } from './sandbox-for-context.ts'

/**
 * Creates the tool `bash` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_COMMAND_FAILED` for a non-zero exit or a signal, with the output in the message;
 * `TOOL_TIMEOUT`, `TOOL_ABORTED`, `TOOL_SPAWN_FAILED`, `TOOL_PATH_ESCAPE`, `TOOL_NETWORK_DISABLED`,
 * `TOOL_GIT_REMOTE_DISABLED`, `TOOL_ISOLATION_UNAVAILABLE`
 */
export function createBashTool(options: BundleOptions): DefinedTool<BashInput, string> {
  return defineTool({
    name: 'bash',
    description:
      `Run a program${whereItRuns(options)}: { cmd, args } starts one without a shell; { command } is a script for sh, for pipes, ` +
      'redirects and several commands. Returns stdout and stderr; a non-zero exit is an error. ' +
      'Background processes end with the command.',
    schema: bashSchema,
    ...modelBudget(
      options,
      'For less, filter the output (head, tail, grep), or write it to a file and read parts of that.',
    ),
    sideEffect: true,
    idempotent: false,
    // Without a network, a command changes only files under the root, visible with `git diff`.
    effectScope: (task) => (opensNetwork(task, options) ? 'external' : 'workspace'),
    async execute(input, ctx) {
      const { cmd, args } = commandOf(input)
      const network = commandNetwork(ctx, options, [cmd, ...args])
      const result = await runInSandbox(input, ctx, options, network)
      options.onCommand?.({ toolCallId: ctx.toolCallId, cmd, args, result })
      const { notes, waits } = await network.settle(result)
      if (waits !== undefined) throw waiting(waits, result)
      if (result.status === 'exited' && result.exitCode === 0) return withNotes(result, notes)
      throw failure(input, result, { notes, longestTimeoutMs: limitsFor(ctx, options).timeoutMs })
    },
    toModelOutput: (given) => modelText(given, '(no output)'),
  })
}

async function runInSandbox(
  input: BashInput,
  ctx: ToolContext,
  options: BundleOptions,
  { onDecision }: CommandNetwork,
): Promise<RunResult> {
  const { maxOutputBytes, timeoutMs } = limitsFor(ctx, options)
  const { cmd, args } = commandOf(input)
  const cwd = input.opts?.cwd
  try {
    return await withSandbox(ctx, options, (sandbox) =>
      sandbox.run(cmd, args, {
        ...(cwd === undefined ? {} : { cwd }),
        ...(input.command === undefined ? {} : { checkScript: true }),
        maxOutputBytes,
        timeoutMs: Math.min(input.timeoutMs ?? timeoutMs, timeoutMs),
        // Return one merged stream so errors appear where they were printed. `onCommand` promises both streams.
        mergeOutput: options.onCommand === undefined,
        signal: ctx.abortSignal,
        onDecision,
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

/** Runs a program or a script, isolated as the options and the machine allow. */
export const bash: DefinedTool<BashInput, string> = createBashTool(defaultOptions)
