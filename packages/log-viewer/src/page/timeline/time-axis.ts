import type { TimeSpan } from '../model/viewer-state.ts'

/** A mark on the axis. */
export interface Tick {
  /** From 0 to 100, as `x` of a drawing takes it. */
  readonly percent: number
  /** Counted from the start of the run. */
  readonly label: string
}

/** Where a moment is on the axis, in percent; beyond the ends it stays just outside. */
export function percentOf(atMs: number, { fromMs, toMs }: TimeSpan): number {
  const percent = ((atMs - fromMs) / Math.max(toMs - fromMs, 1e-3)) * 100
  return Math.min(Math.max(percent, -2), 102)
}

/** The marks as a background that all lanes share: a drawing of them in each lane would be most of the page. */
export function gridOf(ticks: readonly Tick[]): string {
  const line = 'linear-gradient(var(--line), var(--line))'
  return ticks.map(({ percent }) => `${line} ${percent}% 0 / 1px 100% no-repeat`).join(', ')
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000]
  .concat([1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000))
  .concat([1, 2, 6, 12, 24, 48, 168, 720].map((hours) => hours * 3_600_000))

/** Three to six marks at round times. */
export function ticksOf(span: TimeSpan, startMs: number): Tick[] {
  const length = span.toMs - span.fromMs
  const step = steps.find((candidate) => length / candidate <= 5) ?? length / 5
  const ticks: Tick[] = []
  const first = Math.ceil((span.fromMs - startMs) / step) * step
  for (let at = first; at <= span.toMs - startMs && ticks.length < 8; at += step) {
    ticks.push({ percent: percentOf(startMs + at, span), label: tickLabel(at, step) })
  }
  return ticks
}

function tickLabel(ms: number, step: number): string {
  if (ms === 0) return '0'
  if (step < 1000) return Math.abs(ms) < 1000 ? `${ms} ms` : `${trimmed(ms / 1000)} s`
  if (step < 60_000) return ms < 60_000 ? `${trimmed(ms / 1000)} s` : clock(ms)
  if (step < 3_600_000) return ms < 3_600_000 ? `${trimmed(ms / 60_000)} min` : clock(ms)
  return step < 86_400_000 ? `${trimmed(ms / 3_600_000)} h` : `${trimmed(ms / 86_400_000)} d`
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)} h`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

function trimmed(value: number): string {
  return String(Number(value.toFixed(3)))
}
