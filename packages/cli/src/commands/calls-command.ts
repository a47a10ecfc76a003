import { nowOf } from '@smithers/tool-core/log'
import { Option } from 'commander'
import type { Command } from 'commander'
import type {
  ToolCallLog,
  ToolCallQuery,
  ToolCallRow,
  ToolCallStatus,
} from '@smithers/tool-core/log'
import { callDocument } from '../documents/documents.ts'
import { callOutcome, errorFields, parsedJson } from '../log/call-outcome.ts'
import { logPathOf } from '../log/log-path.ts'
import { openExistingLog } from '../log/open-log.ts'
import { allRows } from '../log/all-rows.ts'
import { duration } from '../terminal/call-line.ts'
import { summarizeCall } from '../terminal/call-summary.ts'
import { callTable, coloredOutcome } from '../terminal/call-table.ts'
import { printableLine } from '../terminal/printable.ts'
import type { Colors, ProgramSurroundings } from '../terminal/terminal.ts'
import { logOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'

interface CallsOptions {
  readonly log?: string
  readonly run?: string
  readonly task?: string
  readonly tool?: string
  readonly status?: ToolCallStatus
  readonly limit: number
  readonly trace?: string
  readonly follow?: true
  readonly json?: true
}

/** Adds `smithers calls`: lists the calls in a log, oldest first. */
export function addCallsCommand(program: Command, surroundings: ProgramSurroundings): void {
  program
    .command('calls')
    .summary('list calls')
    .description(
      'Lists the calls in a log, oldest first, with their outcome, their effect and the first part of their idempotency key. A call whose process died has the outcome "unknown": its effect may have happened.',
    )
    .addOption(logOption())
    .option('--run <id>', 'only this run')
    .option('--task <id>', 'only this task of a workflow')
    .option('--tool <name>', 'only calls of this tool')
    .addOption(
      new Option('--status <status>', 'only calls in this state').choices([
        'started',
        'success',
        'error',
      ]),
    )
    .option('--limit <n>', 'show the newest N calls', positiveInteger, 200)
    .option('--trace <id>', 'only calls with this trace id')
    .option('--follow', 'then print calls as they start and end, until Ctrl-C')
    .option('--json', 'print JSON Lines, one call per line, with its outcome')
    .addHelpText(
      'after',
      `
Examples:
  smithers calls
  smithers calls --status started
  smithers calls --follow --run nightly
  smithers calls --json | jq -r .toolName | sort | uniq -c`,
    )
    .action((options: CallsOptions) => listCalls(options, surroundings))
}

async function listCalls(
  options: CallsOptions,
  { terminal, interrupted }: ProgramSurroundings,
): Promise<void> {
  const log = await openExistingLog(logPathOf(options.log))
  try {
    const { rows, more } = await newestCalls(log, options)
    const nowMs = nowOf(log)
    if (options.json) {
      for (const row of rows) terminal.json(callDocument(row, nowMs))
    } else if (rows.length > 0) {
      terminal.line(callTable(rows, nowMs, terminal.colors))
    } else if (!options.follow) {
      terminal.note('No calls match.')
    }
    if (more) terminal.note(`There are older calls. --limit ${options.limit * 2} shows more.`)
    if (options.follow) await follow(log, options, rows, { terminal, interrupted })
  } finally {
    await log.close()
  }
}

/** The newest calls that match, oldest first. */
async function newestCalls(
  log: ToolCallLog,
  options: CallsOptions,
): Promise<{ readonly rows: readonly ToolCallRow[]; readonly more: boolean }> {
  const newest: ToolCallRow[] = []
  for await (const row of allRows(log, { ...queryOf(options), order: 'descending' })) {
    if (options.trace !== undefined && row.traceId !== options.trace) continue
    if (newest.length === options.limit) return { rows: newest.toReversed(), more: true }
    newest.push(row)
  }
  return { rows: newest.toReversed(), more: false }
}

/** Prints what comes after the calls that were listed, until Ctrl-C. */
async function follow(
  log: ToolCallLog,
  options: CallsOptions,
  listed: readonly ToolCallRow[],
  { terminal, interrupted }: Pick<ProgramSurroundings, 'terminal' | 'interrupted'>,
): Promise<void> {
  const { followCalls } = await import('../log/follow-calls.ts')
  const known = new Map(listed.map(({ callToken, status }) => [callToken, status]))
  const open = listed.filter(({ status }) => status === 'started')
  const since = Math.min(
    listed.at(-1)?.startedAtMs ?? 0,
    ...open.map(({ startedAtMs }) => startedAtMs),
  )
  for await (const row of followCalls(log, queryOf(options), since, interrupted)) {
    if (options.trace !== undefined && row.traceId !== options.trace) continue
    if (known.get(row.callToken) === row.status) continue
    const nowMs = nowOf(log)
    if (options.json) terminal.json(callDocument(row, nowMs))
    else terminal.line(followedLine(row, nowMs, terminal.colors))
  }
}

/** A call on a line of its own, with the reason when it did not succeed. */
function followedLine(row: ToolCallRow, nowMs: number, colors: Colors): string {
  const { runId, nodeId, seq, toolName, startedAtMs, finishedAtMs } = row
  const where = printableLine(`${runId} ${nodeId} ${seq}`, 48)
  const what = printableLine(
    `${toolName} ${summarizeCall(toolName, parsedJson(row.inputJson))}`,
    60,
  )
  const took = finishedAtMs === null ? '' : `  ${duration(finishedAtMs - startedAtMs)}`
  const { message } = errorFields(row)
  const why = message === undefined ? '' : `  ${colors.dim(printableLine(message, 120))}`
  return `${colors.dim(where)}  ${what}${took}  ${coloredOutcome(callOutcome(row, nowMs), colors)}${why}`
}

function queryOf({
  run,
  task,
  tool,
  status,
}: CallsOptions): Pick<ToolCallQuery, 'runId' | 'nodeId' | 'toolName' | 'status'> {
  return {
    ...(run === undefined ? {} : { runId: run }),
    ...(task === undefined ? {} : { nodeId: task }),
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(status === undefined ? {} : { status }),
  }
}
