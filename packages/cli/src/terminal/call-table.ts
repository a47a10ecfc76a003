import type { ToolCallRow } from '@smithers/tool-core/log'
import Table from 'cli-table3'
import { callOutcome, parsedJson } from '../log/call-outcome.ts'
import type { OutcomeOfCall } from '../log/call-outcome.ts'
import { duration } from './call-line.ts'
import { summarizeCall } from './call-summary.ts'
import { printableLine } from './printable.ts'
import type { Colors } from './terminal.ts'

/** Rows of the log as a table. Runs, tasks and attempts get columns only when there are several. */
export function callTable(rows: readonly ToolCallRow[], nowMs: number, colors: Colors): string {
  const showRun = new Set(rows.map((row) => `${row.runId}\n${row.nodeId}`)).size > 1
  const showAttempt = rows.some((row) => row.attempt > 1 || row.iteration > 0)
  const table = plainTable(
    [
      ...(showRun ? ['run', 'task'] : []),
      ...(showAttempt ? ['attempt'] : []),
      'seq',
      'tool',
      'arguments',
      'took',
      'outcome',
      'effect',
      'key',
    ],
    colors,
  )
  for (const row of rows) {
    table.push([
      ...(showRun ? [printableLine(row.runId, 28), printableLine(row.nodeId, 24)] : []),
      ...(showAttempt ? [`${row.iteration > 0 ? `${row.iteration}/` : ''}${row.attempt}`] : []),
      String(row.seq),
      printableLine(row.toolName, 24),
      printableLine(summarizeCall(row.toolName, parsedJson(row.inputJson)), 44),
      row.finishedAtMs === null ? '' : duration(row.finishedAtMs - row.startedAtMs),
      coloredOutcome(callOutcome(row, nowMs), colors),
      row.sideEffect ? (row.effect ?? '') : colors.dim('none'),
      colors.dim(row.idempotencyKey?.slice(0, 8) ?? ''),
    ])
  }
  return tableText(table)
}

/** The outcome and its code, coloured by severity. */
export function coloredOutcome({ outcome, code }: OutcomeOfCall, colors: Colors): string {
  const text = code === null ? outcome : `${outcome} ${printableLine(code, 40)}`
  if (outcome === 'ok' || outcome === 'replayed') return colors.green(text)
  if (outcome === 'refused' || outcome === 'running') return colors.yellow(text)
  return outcome === 'unknown' ? colors.magenta(text) : colors.red(text)
}

/** A table with only a line below its header, so that it can be copied into a message. */
export function plainTable(head: readonly string[], colors: Colors): Table.Table {
  return new Table({
    head: head.map((title) => colors.dim(title)),
    // The library's own colours ignore NO_COLOR.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: '  ',
    },
  })
}

/** The table without trailing spaces. */
export function tableText(table: Table.Table): string {
  return table.toString().replaceAll(/ +$/gm, '')
}
