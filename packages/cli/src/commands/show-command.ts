import { nowOf } from '@smithers/tool-core/log'
import type { Command } from 'commander'
import type { CallConnections, ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import { type CallDocument, callDocument } from '../documents/documents.ts'
import { callOutcome, errorFields, parsedJson } from '../log/call-outcome.ts'
import { priorCallsOfKey, findCall, replayedCall } from '../log/find-call.ts'
import { logPathOf } from '../log/log-path.ts'
import { openExistingLog } from '../log/open-log.ts'
import { argumentDifference } from '../terminal/argument-difference.ts'
import { duration } from '../terminal/call-line.ts'
import { connectionLines } from '../terminal/connection-lines.ts'
import { coloredOutcome } from '../terminal/call-table.ts'
import { coloredPatch } from '../terminal/colored-patch.ts'
import { logArgument } from '../terminal/log-argument.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { logOption } from './log-option.ts'
import { positiveInteger } from './option-values.ts'

interface ShowOptions {
  readonly log?: string
  readonly run?: string
  readonly task?: string
  readonly attempt?: number
  readonly json?: true
}

/** Adds `smithers show`: shows everything recorded of one call. */
export function addShowCommand(program: Command, terminal: Terminal): void {
  program
    .command('show')
    .summary('show one call')
    .description(
      'Shows one call: its arguments, output or error, its key, and earlier calls with the same key, with the difference between their arguments.',
    )
    .argument(
      '<seq>',
      'the number of the call in its attempt, from "smithers calls"',
      positiveInteger,
    )
    .addOption(logOption())
    .option('--run <id>', 'the run (default: the newest)')
    .option('--task <id>', 'the task of a workflow (default: the newest with such a call)')
    .option('--attempt <n>', 'the attempt (default: the newest with such a call)', positiveInteger)
    .option(
      '--json',
      'print one JSON document: the call, its outcome, and earlier calls with its key',
    )
    .addHelpText(
      'after',
      `
Examples:
  smithers show 4
  smithers show 4 --run run-1 --attempt 1 --json`,
    )
    .action((seq: number, options: ShowOptions) => showCall(seq, options, terminal))
}

async function showCall(seq: number, options: ShowOptions, terminal: Terminal): Promise<void> {
  const path = logPathOf(options.log)
  const log = await openExistingLog(path)
  try {
    const { run: runId, task: nodeId, attempt } = options
    const { row, others } = await findCall(log, { seq, runId, nodeId, attempt }, logArgument(path))
    await printCall(log, row, options.json === true, terminal)
    if (others.length > 0 && !options.json) {
      const attempts = others.map((other) => `${other.nodeId} attempt ${other.attempt}`).join(', ')
      terminal.note(`The run has other calls with this number: ${printable(attempts)}.`)
    }
  } finally {
    await log.close()
  }
}

async function printCall(
  log: ToolCallLog,
  row: ToolCallRow,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const nowMs = nowOf(log)
  const earlier = await priorCallsOfKey(log, row)
  if (json) {
    const document = (call: ToolCallRow): CallDocument => callDocument(call, nowMs)
    terminal.json({ ...document(row), earlierOfKey: earlier.map(document) })
    return
  }
  const { colors } = terminal
  const replayed = await replayedCall(log, row)
  for (const [name, value] of facts(row)) {
    if (value !== null) terminal.line(`${colors.dim(name.padEnd(9))} ${printable(value)}`)
  }
  terminal.line(
    `${colors.dim('outcome'.padEnd(9))} ${coloredOutcome(callOutcome(row, nowMs), colors)}`,
  )
  if (replayed !== null) {
    terminal.line(
      `${colors.dim('output of'.padEnd(9))} attempt ${replayed.attempt}, call ${replayed.seq}`,
    )
  }
  const { patch, ...shown } = withoutPatch(row.inputJson)
  section('arguments', indented(shown.inputJson), terminal)
  if (patch !== null) {
    terminal.line(`\n${colors.dim('patch')}`)
    terminal.line(coloredPatch(patch.trimEnd(), colors))
  }
  section('output', indented(row.outputJson), terminal)
  if (row.networkJson !== undefined) {
    const connections = JSON.parse(row.networkJson) as CallConnections
    terminal.line(`\n${colors.dim('network')}`)
    for (const line of connectionLines(connections, colors)) terminal.line(line)
  }
  section('error', errorFields(row).message ?? indented(row.errorJson), terminal)
  for (const call of earlier) {
    const title = `earlier call with this key: attempt ${call.attempt}, call ${call.seq}, ${time(call.startedAtMs)}, ${coloredOutcome(callOutcome(call, nowMs), colors)}`
    const difference = argumentDifference(
      parsedJson(call.inputJson),
      parsedJson(row.inputJson),
      colors,
    )
    terminal.line(`\n${title}`)
    terminal.line(difference ?? colors.dim('the same arguments'))
  }
}

function facts(row: ToolCallRow): [name: string, value: string | null][] {
  const kind = row.sideEffect
    ? `side effect${row.idempotent ? ', idempotent' : ''}`
    : 'no side effect'
  const took =
    row.finishedAtMs === null ? '' : `, took ${duration(row.finishedAtMs - row.startedAtMs)}`
  return [
    ['tool', `${row.toolName} (${kind})`],
    ['run', `${row.runId}, task ${row.nodeId}, iteration ${row.iteration}, attempt ${row.attempt}`],
    ['call', `${row.seq}${row.toolCallId === null ? '' : `, the model's ${row.toolCallId}`}`],
    ['started', time(row.startedAtMs) + took],
    ['key', row.idempotencyKey],
    ['effect', row.effect],
    ['trace', row.traceId],
  ]
}

function section(title: string, text: string | null, terminal: Terminal): void {
  if (text === null) return
  terminal.line(`\n${terminal.colors.dim(title)}`)
  terminal.line(printable(text.trimEnd()))
}

/** The arguments, and the patch that a run with `recordContents` keeps beside them. */
function withoutPatch(inputJson: string | null): {
  readonly inputJson: string | null
  readonly patch: string | null
} {
  const input = parsedJson(inputJson)
  if (typeof input !== 'object' || input === null) return { inputJson, patch: null }
  const { $patch: patch, ...others } = input as Record<string, unknown>
  if (typeof patch !== 'string') return { inputJson, patch: null }
  return { inputJson: JSON.stringify(others), patch }
}

/** A logged value for people: text as it is, everything else as indented JSON. */
function indented(json: string | null): string | null {
  if (json === null) return null
  const value = parsedJson(json)
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
