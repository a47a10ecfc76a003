import { Option } from 'commander'
import type { Command } from 'commander'
import type { ToolCallRow, ToolCallStatus } from '@smithers/tool-core/log'
import { callOutcome } from '../log/call-outcome.ts'
import { logPathOf } from '../log/log-path.ts'
import { openExistingLog } from '../log/open-log.ts'
import { allRows } from '../log/all-rows.ts'
import { callTable } from '../terminal/call-table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { logOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'

interface CallsOptions {
  readonly log?: string
  readonly run?: string
  readonly task?: string
  readonly tool?: string
  readonly status?: ToolCallStatus
  readonly limit: number
  readonly json?: true
}

/** Adds `smithers calls`: lists the calls in a log, oldest first. */
export function addCallsCommand(program: Command, terminal: Terminal): void {
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
    .option('--json', 'print JSON Lines, one call per line, with its outcome')
    .addHelpText(
      'after',
      `
Examples:
  smithers calls
  smithers calls --status started
  smithers calls --json | jq -r .toolName | sort | uniq -c`,
    )
    .action((options: CallsOptions) => listCalls(options, terminal))
}

async function listCalls(options: CallsOptions, terminal: Terminal): Promise<void> {
  const log = openExistingLog(logPathOf(options.log))
  try {
    const newest: ToolCallRow[] = []
    let more = false
    for await (const row of allRows(log, {
      ...(options.run === undefined ? {} : { runId: options.run }),
      ...(options.task === undefined ? {} : { nodeId: options.task }),
      ...(options.tool === undefined ? {} : { toolName: options.tool }),
      ...(options.status === undefined ? {} : { status: options.status }),
      order: 'descending',
    })) {
      more = newest.length === options.limit
      if (more) break
      newest.push(row)
    }
    const rows = newest.toReversed()
    const nowMs = Date.now()
    if (options.json) {
      for (const row of rows) terminal.json({ ...row, ...callOutcome(row, nowMs) })
    } else if (rows.length > 0) {
      terminal.line(callTable(rows, nowMs, terminal.colors))
    } else {
      terminal.note('No calls match.')
    }
    if (more) terminal.note(`There are older calls. --limit ${options.limit * 2} shows more.`)
  } finally {
    await log.close()
  }
}
