import { nowOf } from '@smithers/tool-core/log'
import type { Command } from 'commander'
import { pendingApprovals } from '@smithers/tool-core'
import type { QueuedRun } from '@smithers/worker'
import { queueValues, runValues } from '../documents/documents.ts'
import { badInput } from '../errors/command-failure.ts'
import { describeError } from '../errors/describe-error.ts'
import { logPathOf } from '../log/log-path.ts'
import { isPostgres, shownLog, withoutSecrets } from '../log/log-target.ts'
import { openExistingLog } from '../log/open-log.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { workerText } from '../terminal/worker-text.ts'
import { logOption, schemaOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'

/** Adds `smithers runs`: lists workflow runs. */
export function addRunsCommand(program: Command, terminal: Terminal): void {
  program
    .command('runs')
    .summary('list workflow runs')
    .description(
      'Lists the workflow runs in a log, newest first. For a queue in PostgreSQL also the worker of each, or that no worker knows it, where @smithers/worker is installed.',
    )
    .addOption(logOption())
    .addOption(schemaOption())
    .option('--limit <n>', 'show the newest N runs', positiveInteger, 20)
    .option('--json', 'print JSON Lines, one run per line')
    .action((options: RunsOptions) => listRuns(options, terminal))
}

interface RunsOptions {
  readonly log?: string
  readonly schema?: string
  readonly limit: number
  readonly json?: true
}

async function listRuns(options: RunsOptions, terminal: Terminal): Promise<void> {
  const [{ runState }, { plainTable, tableText }] = await Promise.all([
    import('../runs/explain-run.ts'),
    import('../terminal/call-table.ts'),
  ])
  const path = logPathOf(options.log)
  const { schema } = options
  if (schema !== undefined && !isPostgres(path)) {
    throw badInput(
      `--schema names tables of PostgreSQL, and ${path} is a file. Leave it out, or give --log postgres://user@host/database.`,
    )
  }
  const log = await openExistingLog(path, schema)
  try {
    const runs = await log.runs.list({ limit: options.limit })
    const runIds = runs.map(({ runId }) => runId)
    const queue = await queueOf({ path, schema }, runIds, terminal)
    const nowMs = nowOf(log)
    const columns = ['run', 'workflow', 'state', 'tasks finished', 'started']
    if (queue.size > 0) columns.push('worker')
    const table = plainTable(columns, terminal.colors)
    for (const run of runs) {
      const tasks = await log.runs.tasks(run.runId)
      const finished = tasks.filter(({ status }) => status === 'finished').length
      const waits = await pendingApprovals({ log, runId: run.runId })
      const state = runState(run, waits.length, nowMs)
      const queued = queue.get(run.runId)
      if (options.json) {
        terminal.json({
          type: 'run',
          ...runValues(run),
          state,
          tasks: tasks.length,
          finishedTasks: finished,
          ...(queued !== undefined && { queue: queueValues(queued) }),
        })
        continue
      }
      const cells = [
        printable(run.runId),
        printable(run.workflow ?? ''),
        state,
        `${finished} of ${tasks.length}`,
        new Date(run.startedAtMs).toISOString(),
      ]
      if (queue.size > 0) cells.push(queued === undefined ? '' : workerText(queued))
      table.push(cells)
    }
    if (runs.length === 0) terminal.note(`${shownLog(path)} contains no workflow runs.`)
    else if (!options.json) terminal.line(tableText(table))
  } finally {
    await log.close()
  }
}

/** Runs are listed although the queue cannot be read, as by a role that may only read the log. */
async function queueOf(
  { path: target, schema }: { readonly path: string; readonly schema: string | undefined },
  runIds: readonly string[],
  terminal: Terminal,
): Promise<ReadonlyMap<string, QueuedRun>> {
  if (!isPostgres(target)) return new Map()
  try {
    const { queuedRuns } = await import('../log/queued-runs.ts')
    return await queuedRuns(target, runIds, schema)
  } catch (error) {
    const reason = printable(withoutSecrets(describeError(error), target))
    terminal.note(`smithers: the workers of these runs are unknown: ${reason}`)
    return new Map()
  }
}
