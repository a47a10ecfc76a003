import type { Command } from 'commander'
import { checkedRoot } from '@smithers/cli/src/sandbox/root-directory.ts'
import { badInput } from '@smithers/cli/src/errors/command-failure.ts'
import { logPathOf } from '@smithers/cli/src/log/log-path.ts'
import { logOption } from '@smithers/cli/src/commands/log-option.ts'
import { type NetworkFlags, networkOptions } from '@smithers/cli/src/sandbox/network-flags.ts'
import { toolOptions, widerNetworkOption } from '@smithers/cli/src/commands/tool-options.ts'
import { recordContentsOption } from './record-contents-option.ts'
import type { WorkflowCommandSurroundings } from './run-workflow-file.ts'

interface UpOptions extends NetworkFlags {
  readonly input?: string
  readonly root?: string
  readonly log?: string
  readonly run?: string
  readonly acceptChangedWorkflow?: true
  readonly acceptWiderNetwork?: true
  readonly recordContents?: true
  readonly maxOutputBytes?: number
  readonly toolTimeoutMs?: number
  readonly json?: true
}

/** Adds `smithers up`: runs the workflow in a file. */
export function addUpCommand(program: Command, surroundings: WorkflowCommandSurroundings): void {
  const command = program
    .command('up')
    .summary('run a workflow')
    .description(
      'Runs the workflow that a file exports (.tsx, .jsx, .ts, .js) and records every step. Ctrl-C stops it cleanly, and "smithers resume" continues it.',
    )
    .argument('<workflow>', 'the file, for example workflow.tsx')
    .option('--input <json>', 'the input of the workflow, a JSON object')
    .option('--root <dir>', "the folder that tools may work in (default: the workflow's folder)")
    .addOption(logOption())
    .option('--run <id>', 'the id of the run; the id of an earlier run resumes it')
    .option(
      '--accept-changed-workflow',
      'resume although the workflow has changed since the run began',
    )
    .addOption(widerNetworkOption())
    .addOption(recordContentsOption())
    .option('--json', 'print JSON Lines: the events of the run, then its outputs')
    .addHelpText(
      'after',
      `
Examples:
  smithers up workflow.tsx --input '{"file":"src/auth.ts"}' --root .
  smithers up workflow.tsx --run nightly`,
    )
  for (const option of toolOptions()) command.addOption(option)
  command.action((file: string, options: UpOptions) => up(file, options, surroundings))
}

async function up(
  file: string,
  options: UpOptions,
  surroundings: WorkflowCommandSurroundings,
): Promise<void> {
  const input = options.input === undefined ? undefined : parsedInput(options.input)
  const rootDir = options.root === undefined ? undefined : checkedRoot(options.root)
  const network = networkOptions(options)
  const [{ runWorkflowFile }, { newRunId }] = await Promise.all([
    import('./run-workflow-file.ts'),
    import('../workflow/new-run-id.ts'),
  ])
  await runWorkflowFile({
    ...surroundings,
    file,
    runId: options.run ?? newRunId(new Date()),
    logPath: logPathOf(options.log),
    json: options.json === true,
    acceptChangedWorkflow: options.acceptChangedWorkflow === true,
    options: {
      ...(input !== undefined && { input }),
      ...(rootDir !== undefined && { rootDir }),
      ...network,
      acceptWiderNetwork: options.acceptWiderNetwork === true,
      recordContents: options.recordContents,
      maxOutputBytes: options.maxOutputBytes,
      toolTimeoutMs: options.toolTimeoutMs,
    },
  })
}

function parsedInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw badInput(`--input is not JSON: ${reason}. Quote it: --input '{"file":"src/auth.ts"}'.`)
  }
}
