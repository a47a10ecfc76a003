import type { BenchRow, Goal, Unit } from './result.ts'
import { verdictOf } from './result.ts'

/** A figure with its unit, in the unit that keeps it short: `1 240 µs` is `1.24 ms`. */
export function figureText(value: number | null, unit: Unit): string {
  if (value === null || !Number.isFinite(value)) return '–'
  if (unit === 'µs' && value >= 1000) return figureText(value / 1000, 'ms')
  if (unit === 'ms' && value >= 1000) return `${digits(value / 1000)} s`
  if (unit === '%') return `${value.toFixed(1)} %`
  if (unit === 'operations') return String(value)
  return `${digits(value)} ${unit}`
}

/** Three digits that count, and blanks between thousands. */
function digits(value: number): string {
  const places = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(places).replaceAll(/\B(?=(?:\d{3})+$)/gu, ' ')
}

export function ratioText(ratio: number | null): string {
  if (ratio === null) return '–'
  return `${ratio < 0.1 ? ratio.toFixed(3) : ratio < 10 ? ratio.toFixed(2) : digits(ratio)} ×`
}

/** The promise alone: `≤ 0.6 ×`, `≥ 2 000 pairs/s`, `≤ 15 µs more`. */
export function goalText({ of, is, limit }: Goal, unit: Unit): string {
  const sign = is === 'at most' ? '≤' : '≥'
  if (of === 'ratio') return `${sign} ${limit} ×`
  return `${sign} ${figureText(limit, unit).replace(/\.0+ /u, ' ')}${of === 'difference' ? ' more' : ''}`
}

/** The promise and whether it is kept; empty without one. */
export function verdictText(row: BenchRow, unit: Unit): string {
  const verdict = verdictOf(row)
  return row.goal === null || verdict === null ? '' : `${goalText(row.goal, unit)} ${verdict}`
}
