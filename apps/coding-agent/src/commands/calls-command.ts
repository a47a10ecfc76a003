import { Option } from 'commander'
import type { Command } from 'commander'
import type { ToolCallRow, ToolCallStatus } from '@smithers/tool-core/log'
import { callVerdict } from '../log/call-outcome.ts'
import { openExistingLog } from '../log/open-log.ts'
import { allRows } from '../log/all-rows.ts'
import { callTable } from '../terminal/call-table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { positiveInteger } from './option-values.ts'

interface CallsOptions {
  readonly log: string
  readonly run?: string
  readonly task?: string
  readonly tool?: string
  readonly status?: ToolCallStatus
  readonly limit: number
  readonly json?: true
}

/** Adds `smithers calls`: the calls of a log, oldest first. */
export function addCallsCommand(program: Command, terminal: Terminal): void {
  program
    .command('calls')
    .summary('list the calls of a log')
    .description(
      'Lists the calls of a log, oldest first: what was called, what became of it, whether it may have had an effect, and the first part of its idempotency key. A call that was started and whose process is gone is "unknown": its effect may have happened.',
    )
    .requiredOption('--log <file>', 'the log, a SQLite file')
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
    .option('--limit <n>', 'the newest N calls', positiveInteger, 200)
    .option('--json', 'print one JSON document a line, a call each, with the outcome added')
    .addHelpText(
      'after',
      `
Examples:
  smithers calls --log calls.db
  smithers calls --log calls.db --status started
  smithers calls --log calls.db --json | jq -r .toolName | sort | uniq -c`,
    )
    .action((options: CallsOptions) => listCalls(options, terminal))
}

async function listCalls(options: CallsOptions, terminal: Terminal): Promise<void> {
  const log = openExistingLog(options.log)
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
      for (const row of rows) terminal.json({ ...row, ...callVerdict(row, nowMs) })
    } else if (rows.length > 0) {
      terminal.line(callTable(rows, nowMs, terminal.colors))
    } else {
      terminal.note('No calls match.')
    }
    if (more) terminal.note(`There are older calls: --limit ${options.limit * 2} shows more.`)
  } finally {
    await log.close()
  }
}
