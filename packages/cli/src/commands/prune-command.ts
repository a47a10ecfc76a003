import { nowOf } from '@smithers/tool-core/log'
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { badInput, CommandFailure, exitCodes } from '../errors/command-failure.ts'
import { logPathOf } from '../log/log-path.ts'
import { shownLog } from '../log/log-target.ts'
import { openExistingLog, type OpenLog } from '../log/open-log.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { logOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'

/** Runs that are counted before and after. */
const maxRuns = 1_000_000

/** Adds `smithers prune`: removes old calls and runs from a log. */
export function addPruneCommand(program: Command, terminal: Terminal): void {
  program
    .command('prune')
    .argument('[runs...]', 'runs to remove whole, open and waiting ones too')
    .summary('remove old calls and runs from a log')
    .description(
      'Removes finished calls from a log, and with the last call of a run its inputs, outputs, approvals and progress. ' +
        'Open runs, and runs that wait for an approval, stay unless you name them; a run that a process works on always stays.',
    )
    .option('--older-than <age>', 'remove calls that finished longer ago, e.g. 30d, 12h, 45m', age)
    .option('--keep-runs <n>', 'remove the calls of all but the newest N runs', positiveInteger)
    .option('--max-calls <n>', 'remove all but the newest N calls', positiveInteger)
    .addOption(logOption())
    .option('--json', 'print one JSON object')
    .action((runs: string[], options: PruneOptions) => prune(runs, options, terminal))
}

interface PruneOptions {
  readonly olderThan?: number
  readonly keepRuns?: number
  readonly maxCalls?: number
  readonly log?: string
  readonly json?: true
}

async function prune(
  runs: readonly string[],
  { olderThan, keepRuns, maxCalls, ...options }: PruneOptions,
  terminal: Terminal,
): Promise<void> {
  if (runs.length === 0 && [olderThan, keepRuns, maxCalls].every((value) => value === undefined)) {
    throw badInput(
      'Say what to remove: --older-than, --keep-runs, --max-calls, or the ids of runs.',
    )
  }
  const path = logPathOf(options.log)
  const log = await openExistingLog(path)
  try {
    for (const runId of runs) {
      if (await isInLog(log, runId)) continue
      throw badInput(`${shownLog(path)} has no run ${JSON.stringify(runId)}. Nothing was removed.`)
    }
    const before = await countRuns(log)
    const calls = await log.prune({
      ...(olderThan !== undefined && { finishedBeforeMs: nowOf(log) - olderThan }),
      ...(keepRuns !== undefined && { keepRuns }),
      ...(maxCalls !== undefined && { maxRows: maxCalls }),
      runs,
    })
    const removed = before - (await countRuns(log))
    const kept: string[] = []
    for (const runId of runs) if (await isInLog(log, runId)) kept.push(runId)
    if (options.json) terminal.json({ type: 'prune', calls, workflowRuns: removed, kept })
    else terminal.line(`Removed ${counted(calls, 'call')} and ${counted(removed, 'workflow run')}.`)
    if (kept.length === 0) return
    throw new CommandFailure(
      exitCodes.failed,
      `A process works on ${kept.map((runId) => printable(runId)).join(', ')}, or one of its calls has no recorded end. Stop the process, or resume the run, and try again.`,
    )
  } finally {
    await log.close()
  }
}

async function isInLog(log: OpenLog, runId: string): Promise<boolean> {
  const [run] = await log.runs.list({ runId, limit: 1 })
  return run !== undefined || (await log.list({ runId, limit: 1 })).length > 0
}

/** How many workflow runs a log holds. */
export async function countRuns(log: OpenLog): Promise<number> {
  return (await log.runs.list({ limit: maxRuns })).length
}

/** A number with its noun. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

const unitsMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 }

/** Parses an age as milliseconds. */
function age(value: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([dhm])$/u.exec(value) ?? []
  const unitMs = unitsMs[unit]
  if (unitMs === undefined) {
    throw new InvalidArgumentError('It must be a number of days, hours or minutes, e.g. 30d.')
  }
  return Number(number) * unitMs
}
