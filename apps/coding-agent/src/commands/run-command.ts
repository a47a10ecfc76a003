import { Option } from 'commander'
import type { Command } from 'commander'
import { providerNames, resolveLanguageModel } from '../agent/language-model.ts'
import { checkedRoot, isBeneath } from '../agent/root-directory.ts'
import { type ToolName, toolNames } from '../agent/tool-names.ts'
import { askOnTerminal, isInteractive } from '../agent/ask-on-terminal.ts'
import { badInput } from '../command-failure.ts'
import { openLogForRun } from '../log/open-log.ts'
import { printable } from '../terminal/printable.ts'
import { createJsonReporter, createTextReporter } from '../terminal/run-reporter.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { positiveInteger } from './option-values.ts'

interface RunOptions {
  readonly root: string
  readonly log: string
  readonly model?: string
  readonly baseUrl?: string
  readonly run?: string
  readonly allowNetwork?: true
  readonly maxOutputBytes?: number
  readonly toolTimeoutMs?: number
  readonly maxSteps: number
  readonly ask?: readonly ToolName[]
  readonly json?: true
}

/** What the command needs from its process. */
export interface RunCommandSurroundings {
  readonly terminal: Terminal
  readonly env: Readonly<Record<string, string | undefined>>
  readonly interrupted: AbortSignal
}

/** Adds `smithers run`: an agent does a task in a folder. */
export function addRunCommand(program: Command, surroundings: RunCommandSurroundings): void {
  program
    .command('run')
    .summary('let an agent do a task in a folder')
    .description(
      'Lets an agent do a task with the tools read, write, edit, grep and bash, confined to --root. Every call is a line on the terminal and a row in the log.',
    )
    .argument('<task>', 'what to do, in words')
    .requiredOption('--root <dir>', 'the folder that the agent may work in')
    .requiredOption('--log <file>', 'the SQLite file that records every call; created when missing')
    .addOption(
      new Option('--model <provider/model>', `provider: ${providerNames.join(', ')}`).env(
        'SMITHERS_MODEL',
      ),
    )
    .option('--base-url <url>', "the address of the provider's API, for example of a local server")
    .option('--run <id>', 'name the run; the name of an earlier run makes this its next attempt')
    .option('--allow-network', 'let commands use the network (default: no)')
    .option('--max-output-bytes <n>', 'limit of a file read and of an output', positiveInteger)
    .option('--tool-timeout-ms <n>', 'limit of one command or search', positiveInteger)
    .option('--max-steps <n>', 'limit of turns of the model', positiveInteger, 50)
    .option(
      '--ask <tools>',
      'tools whose calls you approve, for example edit,write,bash',
      toolNames,
    )
    .option(
      '--json',
      'print one JSON document a line: run-start, text, call-start, call-end, run-end',
    )
    .addHelpText(
      'after',
      `
Keys come from the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_COMPATIBLE_API_KEY (optional).

Examples:
  smithers run "Fix the failing test" --root . --log ../calls.db --model anthropic/MODEL
  smithers run "What does this do?" --root . --log ../calls.db \\
    --model openai-compatible/MODEL --base-url http://127.0.0.1:11434/v1`,
    )
    .action((task: string, options: RunOptions) => run(task, options, surroundings))
}

async function run(
  task: string,
  options: RunOptions,
  { terminal, env, interrupted }: RunCommandSurroundings,
): Promise<void> {
  if (task.trim() === '') throw badInput('The task is empty. Say what the agent shall do.')
  if (options.model === undefined) {
    throw badInput('No model is given. Use --model provider/model, or set SMITHERS_MODEL.')
  }
  const rootDir = checkedRoot(options.root)
  const model = await resolveLanguageModel({
    model: options.model,
    baseUrl: options.baseUrl,
    env,
  })
  const log = openLogForRun(options.log)
  try {
    if (isBeneath(rootDir, options.log)) {
      terminal.note(
        `smithers: the log ${options.log} is inside the root, where the agent can change it`,
      )
    }
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
      logPath: options.log,
      runId: options.run,
      allowNetwork: options.allowNetwork === true,
      maxOutputBytes: options.maxOutputBytes,
      timeoutMs: options.toolTimeoutMs,
      maxSteps: options.maxSteps,
      ask: { tools: options.ask ?? [], oncePerFile: false },
      onApproval: asks ? askOnTerminal(terminal, () => reporter.hold()) : undefined,
      reporter,
      abortSignal: interrupted,
    })
  } finally {
    await log.close()
  }
}
