import type { Command } from 'commander'
import { isSmithersError } from '@smithers/tool-core'
import { badInput, CommandFailure, exitCodes } from '../errors/command-failure.ts'
import { describeError } from '../errors/describe-error.ts'
import { withoutSecrets } from '../log/log-target.ts'
import { databaseOf } from '../log/postgres-upkeep-log.ts'
import { workerPackage } from '../log/worker-package.ts'
import { networkOptions, type NetworkFlags } from '../sandbox/network-flags.ts'
import { checkedRoot } from '../sandbox/root-directory.ts'
import type { ProgramSurroundings } from '../terminal/terminal.ts'
import { workerReport } from '../terminal/worker-report.ts'
import { logOption, schemaOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'
import { toolOptions, widerNetworkOption } from './tool-options.ts'

interface WorkerOptions extends NetworkFlags {
  readonly log?: string
  readonly queue: string
  readonly concurrency: number
  readonly name?: string
  readonly schema?: string
  readonly json?: true
  readonly root?: string
  readonly acceptChangedWorkflow?: true
  readonly acceptWiderNetwork?: true
  readonly maxOutputBytes?: number
  readonly toolTimeoutMs?: number
}

/** Adds `smithers worker`: takes the runs of a queue, where `@smithers/worker` is installed. */
export function addWorkerCommand(program: Command, surroundings: ProgramSurroundings): void {
  const command = program
    .command('worker')
    .summary('take runs of workflows from a queue')
    .description(
      'Takes queued runs of the workflows that files export, each under its name, from a log in PostgreSQL. SIGTERM or Ctrl-C drains it: it takes no more runs, stops those it has and puts them back. A second one ends it at once; its runs go on elsewhere when their leases have ended. Needs @smithers/worker.',
    )
    .argument('<file...>', 'programs that export workflows (.ts, .mts, .js, .mjs)')
    .addOption(logOption())
    .option('--queue <name>', 'the queue whose runs it takes', 'default')
    .option('--concurrency <n>', 'runs at once', positiveInteger, 4)
    .option('--name <name>', 'shown beside its runs (default: the host and the process)')
    .addOption(schemaOption())
    .option('--json', 'print JSON Lines, one event per line')
    .option('--root <dir>', "the folder that tools may work in (default: the workflow's folder)")
    .option(
      '--accept-changed-workflow',
      'go on with runs that began with another version of their workflow',
    )
    .addOption(widerNetworkOption())
    .addHelpText(
      'after',
      `
Example:
  SMITHERS_LOG=postgres://user@host/database smithers worker workflows.ts`,
    )
  for (const option of toolOptions()) command.addOption(option)
  command.action((files: readonly string[], options: WorkerOptions) =>
    work(files, options, surroundings),
  )
}

async function work(
  files: readonly string[],
  options: WorkerOptions,
  { terminal, interrupted }: ProgramSurroundings,
): Promise<void> {
  const target = databaseOf(options.log)
  const rootDir = options.root === undefined ? undefined : checkedRoot(options.root)
  const run = { ...runOptions(options), ...(rootDir !== undefined && { rootDir }) }
  const installed = await workerPackage()
  if (installed === undefined) {
    throw badInput(
      'smithers worker needs more packages. Install them beside @smithers/cli: npm install @smithers/worker @smithers/workflow @smithers/log-postgres pg',
    )
  }
  if (run.network !== undefined) {
    const { checkedIsolation } = await import('../sandbox/host-network.ts')
    await checkedIsolation(rootDir ?? process.cwd(), run)
  }
  const [{ exportedWorkflows }, { schemaOf }] = await Promise.all([
    import('../runs/exported-workflows.ts'),
    import('@smithers/log-postgres'),
  ])
  const workflows = await exportedWorkflows(files)
  const { queue, concurrency, name } = options
  const schema = schemaOf({ connectionString: target, schema: options.schema })
  const report = workerReport(terminal, target, {
    isJson: options.json === true,
    name: name ?? null,
  })
  interrupted.addEventListener('abort', report.draining)
  try {
    await installed.serveWorker({
      connectionString: target,
      workflows,
      queue,
      concurrency,
      ...(name !== undefined && { name }),
      schema,
      run: { ...run, onEvent: report.event },
      signal: interrupted,
      onProblem: report.problem,
      onReady: (worker) =>
        report.ready(worker.name, {
          queue,
          schema,
          definitions: Object.keys(workflows),
        }),
    })
    report.ended()
  } catch (error) {
    // Without the cause: it may hold the connection string.
    const reason = withoutSecrets(describeError(error), target)
    if (isSmithersError(error) && error.code === 'INVALID_INPUT') throw badInput(reason)
    throw new CommandFailure(exitCodes.failed, `The worker cannot go on: ${reason}`)
  }
}

function runOptions(options: WorkerOptions) {
  const { acceptChangedWorkflow, acceptWiderNetwork, maxOutputBytes, toolTimeoutMs } = options
  return {
    ...networkOptions(options),
    ...(acceptChangedWorkflow === true && { acceptChangedWorkflow }),
    ...(acceptWiderNetwork === true && { acceptWiderNetwork }),
    ...(maxOutputBytes !== undefined && { maxOutputBytes }),
    ...(toolTimeoutMs !== undefined && { toolTimeoutMs }),
  }
}
