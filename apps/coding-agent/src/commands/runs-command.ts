import type { Command } from 'commander'
import { pendingApprovals } from '@smithers/tool-core'
import { logPathOf } from '../log/log-path.ts'
import { openExistingLog } from '../log/open-log.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { logOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'

/** Adds `smithers runs`: lists workflow runs. */
export function addRunsCommand(program: Command, terminal: Terminal): void {
  program
    .command('runs')
    .summary('list workflow runs')
    .description('Lists the workflow runs in a log, newest first.')
    .addOption(logOption())
    .option('--limit <n>', 'show the newest N runs', positiveInteger, 20)
    .option('--json', 'print JSON Lines, one run per line')
    .action((options: RunsOptions) => listRuns(options, terminal))
}

interface RunsOptions {
  readonly log?: string
  readonly limit: number
  readonly json?: true
}

async function listRuns(options: RunsOptions, terminal: Terminal): Promise<void> {
  const [{ runState }, { plainTable, tableText }] = await Promise.all([
    import('../workflow/explain-run.ts'),
    import('../terminal/call-table.ts'),
  ])
  const path = logPathOf(options.log)
  const log = openExistingLog(path)
  try {
    const runs = await log.runs.list({ limit: options.limit })
    const nowMs = Date.now()
    const table = plainTable(
      ['run', 'workflow', 'state', 'tasks finished', 'started'],
      terminal.colors,
    )
    for (const run of runs) {
      const tasks = await log.runs.tasks(run.runId)
      const finished = tasks.filter(({ status }) => status === 'finished').length
      const waits = await pendingApprovals({ log, runId: run.runId })
      const state = runState(run, waits.length, nowMs)
      if (options.json) {
        terminal.json({ ...run, state, tasks: tasks.length, finishedTasks: finished })
        continue
      }
      table.push([
        printable(run.runId),
        printable(run.workflow ?? ''),
        state,
        `${finished} of ${tasks.length}`,
        new Date(run.startedAtMs).toISOString(),
      ])
    }
    if (runs.length === 0) terminal.note(`${path} contains no workflow runs.`)
    else if (!options.json) terminal.line(tableText(table))
  } finally {
    await log.close()
  }
}
