import type { CallConnections } from '@smithers/tool-core'
import { isRefusal } from '../log/refusal.ts'
import { printableLine } from './printable.ts'
import { summarizeCall } from './call-summary.ts'
import type { Colors } from './terminal.ts'

/** A call that has started. */
export interface StartedCall {
  /** Unique among the calls of all runs. */
  readonly id: string
  /** Number of its row, from 1 in each attempt. */
  readonly seq: number
  readonly toolName: string
  /** The arguments as logged; contents of `write` and `edit` appear as size and hash. */
  readonly input: unknown
}

/** A call that has ended. */
export interface EndedCall extends StartedCall {
  readonly durationMs: number
  /** The error's code; null when the call succeeded. */
  readonly code: string | null
  /** The error's message, which the model reads; null when the call succeeded. */
  readonly message: string | null
  /** The output of an earlier call was returned, and the tool did not run. */
  readonly replayed: boolean
  /** What its commands asked of the network, where rules open it. */
  readonly network?: CallConnections
}

const summaryWidth = 52
/** Of the reason below a call that failed. */
const reasonWidth = 110

/** The line of a running call: `  3 read  src/split.js  1.2 s`. */
export function runningCallLine(call: StartedCall, elapsedMs: number, colors: Colors): string {
  return `${head(call, colors)}  ${colors.dim(duration(elapsedMs).padStart(7))}`
}

/** The line of a call that has ended: `  3 read  src/split.js  2 ms  ok`; below it the reason why it did not succeed. */
export function endedCallLine(call: EndedCall, colors: Colors): string {
  const line = `${head(call, colors)}  ${colors.dim(duration(call.durationMs).padStart(7))}  ${outcomeOf(call, colors)}`
  return call.message === null
    ? line
    : `${line}\n      ${colors.dim(printableLine(call.message, reasonWidth))}`
}

/** `ok`, `refused CODE` or `failed CODE`. */
function outcomeOf(call: Pick<EndedCall, 'code' | 'replayed'>, colors: Colors): string {
  if (call.code === null) return colors.green(call.replayed ? 'ok (replayed)' : 'ok')
  return isRefusal(call.code)
    ? colors.yellow(`refused ${call.code}`)
    : colors.red(`failed ${call.code}`)
}

/** `2 ms` below a second, then `1.2 s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`
}

function head(call: StartedCall, colors: Colors): string {
  const summary = printableLine(summarizeCall(call.toolName, call.input), summaryWidth)
  const name = printableLine(call.toolName, 24).padEnd(5)
  return `${colors.dim(String(call.seq).padStart(3))} ${colors.bold(name)} ${summary.padEnd(summaryWidth)}`
}
