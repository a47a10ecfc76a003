import type { CallGroup, CallOutcome, CallSegment, CallSummary, RunResponse } from '../api/calls.ts'
import type { ErrorText } from '../api/session.ts'
import { durationText, plainText } from './plain-text.ts'

/** How wide lines may be, and the axis that the bars share. */
export interface TimelineScale {
  /** Columns of the terminal. */
  readonly width: number
  readonly fromMs: number
  readonly toMs: number
  readonly nowMs: number
}

/** What the badge of an outcome says. */
const badges: Readonly<Record<CallOutcome, string>> = {
  ok: 'ok',
  failed: 'failed',
  refused: 'refused',
  running: 'running',
  unknown: 'OUTCOME UNKNOWN',
  replayed: 'replayed',
  cached: 'from cache',
  fenced: 'fenced',
  waiting: 'waits for approval',
}

/** The line above the calls of a run. */
export function runLine({ run }: RunResponse): string {
  const { counts } = run
  const marks = [
    [counts.calls, counts.calls === 1 ? 'call' : 'calls'],
    [counts.running, 'running'],
    [counts.unknown, 'UNKNOWN'],
    [counts.failed, 'failed'],
    [counts.refused ?? 0, 'refused'],
    [counts.waits, 'waits'],
  ] as const
  const shown = marks.filter(([count], index) => count > 0 || index === 0)
  const name = run.name === null ? '' : `${plainText(run.name)}  `
  return `${name}${plainText(run.runId)}  ${run.status}  ${shown.map(([count, what]) => `${count} ${what}`).join(', ')}`
}

/** The line above the calls of an attempt. */
export function groupLine(group: CallGroup): string {
  const iteration = group.iteration === 0 ? '' : `, iteration ${group.iteration}`
  const end = group.end.kind === 'unrecorded' ? '' : `  ${plainText(group.end.text)}`
  return `${plainText(group.nodeId)}${iteration}, attempt ${group.attempt}${end}`
}

/** What a code means, beneath the calls that have it. */
export function codeLine(code: string, { meaning, advice }: ErrorText): string {
  return `${plainText(code)}: ${plainText(meaning)} ${plainText(advice)}`
}

/** The line of a call. */
export function callLine(call: CallSummary, scale: TimelineScale): string {
  const [bar, width] = [barWidth(scale), scale.width - barWidth(scale) - 42]
  const seq = String(call.seq).padStart(4)
  const endMs = call.finishedAtMs ?? scale.nowMs
  const code = call.errorCode === null ? '' : `  ${plainText(call.errorCode)}`
  return [
    seq,
    fitted(plainText(call.toolName), 12),
    fitted(plainText(call.summary), Math.max(10, width)),
    bar === 0 ? '' : barOf(call.segments, scale, bar),
    durationText(endMs - call.startedAtMs).padStart(9),
    `${badges[call.outcome]}${code}`,
  ]
    .filter((part) => part !== '')
    .join('  ')
    .trimEnd()
}

function barWidth({ width }: TimelineScale): number {
  return width < 80 ? 0 : Math.min(40, Math.floor(width / 4))
}

function barOf(segments: readonly CallSegment[], scale: TimelineScale, width: number): string {
  const spanMs = Math.max(1, scale.toMs - scale.fromMs)
  const columnOf = (atMs: number): number =>
    Math.min(width - 1, Math.max(0, Math.floor(((atMs - scale.fromMs) / spanMs) * width)))
  const cells = Array.from({ length: width }, () => ' ')
  for (const { kind, fromMs, toMs } of segments) {
    const last = columnOf(toMs ?? scale.nowMs)
    for (let column = columnOf(fromMs); column <= last; column += 1) {
      cells[column] = kind === 'run' ? '█' : '░'
    }
  }
  return `│${cells.join('')}│`
}

function fitted(text: string, width: number): string {
  if (text.length <= width) return text.padEnd(width)
  return `${text.slice(0, width - 1).replace(/[\ud800-\udbff]$/, '')}…`.padEnd(width)
}
