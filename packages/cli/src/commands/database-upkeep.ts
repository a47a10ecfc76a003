import type { PostgresLog } from '@smithers/log-postgres'
import { isSmithersError } from '@smithers/tool-core'
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { badInput, CommandFailure, exitCodes } from '../errors/command-failure.ts'
import { describeError } from '../errors/describe-error.ts'
import { shownLog } from '../log/log-target.ts'
import { withPostgresLog } from '../log/postgres-upkeep-log.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { logOption, schemaOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'
import { counted, countRuns } from './prune-command.ts'

interface UpkeepOptions {
  readonly log?: string
  readonly schema?: string
  readonly before?: number
  readonly keepDays?: number
  readonly dryRun?: true
  readonly json?: true
}

/** Adds `smithers db prune`, `archive` and `drop-archived`. What removes something removes nothing until it is told what. */
export function addUpkeepCommands(database: Command, terminal: Terminal): void {
  const add = (name: string, summary: string, description: string): Command =>
    database
      .command(name)
      .summary(summary)
      .description(description)
      .option('--before <time>', 'a time as ISO 8601, in UTC without a zone: 2026-01-31', time)
      .option('--keep-days <n>', 'the same as a number of days before now', positiveInteger)
      .addOption(logOption())
      .addOption(schemaOption())
      .option('--json', 'print one JSON document')
  add(
    'prune',
    'remove old calls and runs',
    'Removes calls that finished before a time from a log in PostgreSQL, and with the last call of a run its inputs, outputs, approvals and progress. Open runs stay, and so does the archive.',
  )
    .option('--dry-run', 'only print what would be removed')
    .action((options: UpkeepOptions) => prune(options, terminal))
  add(
    'archive',
    'move the calls of old runs into the archive',
    'Moves the calls of runs that finished before a time, a week ago by default, out of the table in which calls start. They are listed as before.',
  ).action((options: UpkeepOptions) => archive(options, terminal))
  add(
    'drop-archived',
    'remove old months of the archive',
    'Removes the months of the archive that ended before a time, and then what belonged to runs of which no call is left. Months are those of UTC.',
  ).action((options: UpkeepOptions) => dropArchived(options, terminal))
}

async function prune(options: UpkeepOptions, terminal: Terminal): Promise<void> {
  assertTold(options)
  const isDryRun = options.dryRun === true
  const { calls, workflowRuns } = await upkeep(options, isDryRun, async (log, beforeMs = 0) => {
    const before = await countRuns(log)
    const removed = await log.prune({ finishedBeforeMs: beforeMs })
    return { calls: removed, workflowRuns: before - (await countRuns(log)) }
  })
  if (options.json) {
    terminal.json({ type: 'prune', calls, workflowRuns, kept: [], dryRun: isDryRun })
    return
  }
  const did = isDryRun ? 'Would remove' : 'Removed'
  terminal.line(`${did} ${counted(calls, 'call')} and ${counted(workflowRuns, 'workflow run')}.`)
}

async function archive(options: UpkeepOptions, terminal: Terminal): Promise<void> {
  const { runs, calls, isBusy } = await upkeep(options, false, (log, beforeMs) =>
    log.archive(beforeMs === undefined ? {} : { beforeMs }),
  )
  if (options.json) terminal.json({ type: 'archive', runs, calls, isBusy })
  else terminal.line(`Archived ${counted(calls, 'call')} of ${counted(runs, 'run')}.`)
  if (isBusy) terminal.note('smithers: another process archives now; the rest is left to it.')
}

async function dropArchived(options: UpkeepOptions, terminal: Terminal): Promise<void> {
  assertTold(options)
  const { partitions, runs } = await upkeep(options, false, (log, beforeMs = 0) =>
    log.dropArchived({ beforeMs }),
  )
  if (options.json) {
    terminal.json({ type: 'drop-archived', partitions, runs })
    return
  }
  for (const name of partitions) terminal.line(`Removed ${printable(name)}`)
  const months = counted(partitions.length, 'month')
  terminal.line(`Removed ${months} of the archive and what was left of ${counted(runs, 'run')}.`)
}

async function upkeep<Value>(
  options: UpkeepOptions,
  isDryRun: boolean,
  act: (log: PostgresLog, beforeMs: number | undefined) => Promise<Value>,
): Promise<Value> {
  const { before, keepDays } = options
  if (before !== undefined && keepDays !== undefined) {
    throw badInput('Give --before or --keep-days, not both.')
  }
  return await withPostgresLog(options, isDryRun, async (log, target) => {
    try {
      const beforeMs = keepDays === undefined ? before : log.now() - keepDays * dayMs
      return await act(log, beforeMs)
    } catch (error) {
      if (!isSmithersError(error)) throw error
      if (error.code === 'INVALID_INPUT') throw badInput(describeError(error))
      throw new CommandFailure(exitCodes.failed, `${shownLog(target)}: ${describeError(error)}`)
    }
  })
}

function assertTold({ before, keepDays }: UpkeepOptions): void {
  if (before === undefined && keepDays === undefined) {
    throw badInput('Say what to remove: --before TIME or --keep-days N.')
  }
}

/** Parses a time as milliseconds. Days and times without a zone are of UTC, as the months of the archive are. */
function time(value: string): number {
  const isWhole = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/u.test(
    value,
  )
  const hasZone = !value.includes('T') || /(Z|[+-]\d{2}:\d{2})$/u.test(value)
  const milliseconds = Date.parse(hasZone ? value : `${value}Z`)
  if (isWhole && !Number.isNaN(milliseconds)) return milliseconds
  throw new InvalidArgumentError('It must be a time such as 2026-01-31 or 2026-01-31T12:00Z.')
}

const dayMs = 86_400_000
