import { Option } from 'commander'
import type { Command } from 'commander'
import { providerNames, resolveLanguageModel } from '../agent/language-model.ts'
import { checkedRoot } from '@smithers/cli/src/sandbox/root-directory.ts'
import { type ToolName, toolNames } from '../agent/tool-names.ts'
import { askOnTerminal, isInteractive } from '../agent/ask-on-terminal.ts'
import { badInput } from '@smithers/cli/src/errors/command-failure.ts'
import { assertLogOutsideRoot, logPathOf } from '@smithers/cli/src/log/log-path.ts'
import { openLogForRun } from '@smithers/cli/src/log/open-log.ts'
import { printable } from '@smithers/cli/src/terminal/printable.ts'
import { createJsonReporter, createTextReporter } from '../terminal/run-reporter.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'
import { logOption } from '@smithers/cli/src/commands/log-option.ts'
import { type NetworkFlags, networkOptions } from '@smithers/cli/src/sandbox/network-flags.ts'
import { toolOptions } from '@smithers/cli/src/commands/tool-options.ts'
import { positiveInteger } from '@smithers/cli/src/commands/option-values.ts'
import { recordContentsOption } from './record-contents-option.ts'

interface RunOptions extends NetworkFlags {
  readonly root: string
  readonly log?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly run?: string
  readonly maxOutputBytes?: number
  readonly toolTimeoutMs?: number
  readonly maxSteps: number
  readonly ask?: readonly ToolName[]
  readonly recordContents?: true
  readonly json?: true
}

/** What the command needs from its process. */
export interface RunCommandSurroundings {
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly interrupted: AbortSignal
}

/** Adds `smithers run`: lets an agent do a task in a folder. */
export function addRunCommand(program: Command, surroundings: RunCommandSurroundings): void {
  const command = program
    .command('run')
    .summary('let an agent do a task in a folder')
    .description(
      'Lets an agent do a task with the tools read, write, edit, grep and bash, confined to --root. Each call is printed as one line and recorded as one row of the log.',
    )
    .argument('<task>', 'the task, in words')
    .requiredOption('--root <dir>', 'the folder that the agent may work in')
    .addOption(logOption())
    .addOption(
      new Option('--model <provider/model>', `provider: ${providerNames.join(', ')}`).env(
        'SMITHERS_MODEL',
      ),
    )
    .option('--base-url <url>', "address of the provider's API, for example of a local server")
    .option('--run <id>', 'the id of the run; the id of an earlier run starts its next attempt')
    .option('--max-steps <n>', 'maximum model turns', positiveInteger, 50)
    .option(
      '--ask <tools>',
      'tools whose calls need your approval, for example edit,write,bash',
      toolNames,
    )
    .addOption(recordContentsOption())
    .option('--json', 'print JSON Lines: run-start, text, call-start, call-end, run-end')
    .addHelpText(
      'after',
      `
Keys come from the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_COMPATIBLE_API_KEY (optional).

Examples:
  smithers run "Fix the failing test" --root . --model anthropic/MODEL
  smithers run "What does this do?" --root . \\
    --model openai-compatible/MODEL --base-url http://127.0.0.1:11434/v1`,
    )
  for (const option of toolOptions()) command.addOption(option)
  command.action((task: string, options: RunOptions) => run(task, options, surroundings))
}

async function run(
  task: string,
  options: RunOptions,
  { terminal, env, interrupted }: RunCommandSurroundings,
): Promise<void> {
  if (task.trim() === '') throw badInput('The task is empty. Say what the agent should do.')
  if (options.model === undefined) {
    throw badInput('No model is given. Use --model provider/model, or set SMITHERS_MODEL.')
  }
  const rootDir = checkedRoot(options.root)
  const network = networkOptions(options)
  const model = await resolveLanguageModel({
    model: options.model,
    baseUrl: options.baseUrl,
    env,
  })
  const logPath = logPathOf(options.log)
  const log = await openLogForRun(logPath)
  try {
    assertLogOutsideRoot(logPath, rootDir)
    const [{ runAgent }, { notingRetries }, { noteModelWarnings }] = await Promise.all([
      import('../agent/run-agent.ts'),
      import('../agent/model-retries.ts'),
      import('../agent/model-warnings.ts'),
    ])
    const note = (text: string): void => terminal.note(`smithers: ${printable(text)}`)
    noteModelWarnings(note)
    const reporter = options.json ? createJsonReporter(terminal) : createTextReporter(terminal)
    const asks = options.json !== true && isInteractive(terminal)
    await runAgent({
      task,
      model: notingRetries(model, note),
      modelName: options.model,
      rootDir,
      log,
      logPath,
      runId: options.run,
      network,
      maxOutputBytes: options.maxOutputBytes,
      timeoutMs: options.toolTimeoutMs,
      maxSteps: options.maxSteps,
      recordContents: options.recordContents === true,
      ask: { tools: options.ask ?? [], oncePerFile: false },
      onApproval: asks ? askOnTerminal(terminal, () => reporter.hold()) : undefined,
      reporter,
      abortSignal: interrupted,
    })
  } finally {
    await log.close()
  }
}
