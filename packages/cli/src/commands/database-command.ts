import type { Command } from 'commander'
import type { DatabaseStatus } from '@smithers/log-postgres'
import { shownLog } from '../log/log-target.ts'
import { withPostgres } from '../log/open-postgres-log.ts'
import { databaseOf } from '../log/postgres-upkeep-log.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { addUpkeepCommands } from './database-upkeep.ts'
import { logOption, schemaOption } from './log-option.ts'

interface StatusOptions {
  readonly log?: string
  readonly schema?: string
  readonly json?: true
}

/** Adds `smithers db`: `status`, how large the log of a database is and what is open in it, and its upkeep. */
export function addDatabaseCommand(program: Command, terminal: Terminal): void {
  const database = program
    .command('db')
    .summary('look after a log in PostgreSQL')
    .description(
      'Looks after a log in PostgreSQL: its size, its archive, and what is removed from it. "smithers prune" removes single runs.',
    )
  database
    .command('status')
    .summary('print rows, sizes and what is open')
    .description(
      'Prints the rows, dead rows and sizes of the tables of a log in PostgreSQL, its oldest open call and its oldest lease. Changes nothing.',
    )
    .addOption(logOption())
    .addOption(schemaOption())
    .option('--json', 'print one JSON document')
    .action((options: StatusOptions) => printStatus(options, terminal))
  addUpkeepCommands(database, terminal)
}

async function printStatus(options: StatusOptions, terminal: Terminal): Promise<void> {
  const target = databaseOf(options.log)
  const { schema } = options
  const status = await withPostgres(target, ({ databaseStatus }) =>
    databaseStatus({ connectionString: target, ...(schema !== undefined && { schema }) }),
  )
  if (options.json) {
    terminal.json({ type: 'database', log: shownLog(target), ...status })
    return
  }
  const { plainTable, tableText } = await import('../terminal/call-table.ts')
  const { colors } = terminal
  const { serverVersion, schemaVersion, totalBytes, tables, archivePartitions } = status
  terminal.line(
    `${shownLog(target)}  PostgreSQL ${printable(serverVersion)}, schema ${printable(status.schema)} version ${schemaVersion}, ${size(totalBytes)}`,
  )
  const table = plainTable(['table', 'rows', 'dead rows', 'table', 'indexes'], colors)
  for (const each of [...tables, ...archivePartitions]) {
    const rows = `${each.isEstimate ? 'about ' : ''}${each.rows}`
    table.push([each.name, rows, each.deadRows, size(each.tableBytes), size(each.indexBytes)])
  }
  terminal.line(tableText(table))
  for (const line of openLines(status)) terminal.line(line)
}

function openLines({ openCalls, oldestOpenCall, oldestLease }: DatabaseStatus): string[] {
  const call =
    oldestOpenCall === null
      ? ''
      : `, the oldest ${printable(oldestOpenCall.toolName)} of run ${printable(oldestOpenCall.runId)} since ${time(oldestOpenCall.startedAtMs)}`
  const lease =
    oldestLease === null
      ? 'no lease'
      : `oldest lease: ${oldestLease.kind} of run ${printable(oldestLease.runId)}, until ${time(oldestLease.leaseExpiresAtMs)}`
  return [`open calls: ${openCalls}${call}`, lease]
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
