import { describe, expect, test } from 'vitest'
import { figureText, goalText, ratioText } from '../../bench/figures-as-text.ts'
import { atLeast, atMost, benchRow, figureOf, single, verdictOf } from '../../bench/result.ts'

const beside = { name: 'peer', median: 100, p95: null }

describe('a row', () => {
  test('has the ratio of its medians unless another is given', () => {
    expect(benchRow(single(50), { job: 'a', beside }).ratio).toBe(0.5)
    expect(benchRow(single(50), { job: 'a', beside, ratio: 0.75 }).ratio).toBe(0.75)
    expect(benchRow(single(50), { job: 'a' }).ratio).toBeNull()
  })

  test('meets a goal up to its limit and misses it beyond', () => {
    const verdict = (median: number, goal = atMost(1.2)) =>
      verdictOf(benchRow(single(median), { job: 'a', beside, goal }))
    expect(verdict(120)).toBe('met')
    expect(verdict(121)).toBe('missed')
    expect(verdict(15, atMost(15, 'median'))).toBe('met')
    expect(verdict(115, atMost(15, 'difference'))).toBe('met')
    expect(verdict(116, atMost(15, 'difference'))).toBe('missed')
    expect(verdict(98.9, atLeast(99))).toBe('missed')
    expect(verdict(99, atLeast(99))).toBe('met')
  })

  test('misses a goal whose figure was not measured', () => {
    expect(verdictOf(benchRow(single(1), { job: 'a', goal: atMost(1.2) }))).toBe('missed')
    expect(verdictOf(benchRow(single(Number.NaN), { job: 'a', goal: atMost(9, 'median') }))).toBe(
      'missed',
    )
  })

  test('has no verdict without a goal', () => {
    expect(verdictOf(benchRow(single(1), { job: 'a' }))).toBeNull()
  })
})

describe('a figure', () => {
  test('is the middle of its times, and has a p95 from twenty rounds on', () => {
    expect(figureOf([3, 1, 2])).toEqual({ median: 2, p95: null })
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(figureOf(hundred)).toEqual({ median: 51, p95: 96 })
  })

  test('is written in the unit that keeps it short', () => {
    expect(figureText(31.96, 'µs')).toBe('32.0 µs')
    expect(figureText(1240, 'µs')).toBe('1.24 ms')
    expect(figureText(2_500_000, 'µs')).toBe('2.50 s')
    expect(figureText(12_345, 'pairs/s')).toBe('12 345 pairs/s')
    expect(figureText(0, 'operations')).toBe('0')
    expect(figureText(null, 'ms')).toBe('–')
    expect(ratioText(0.0123)).toBe('0.012 ×')
    expect(goalText(atMost(15, 'difference'), 'µs')).toBe('≤ 15 µs more')
    expect(goalText(atLeast(2000), 'pairs/s')).toBe('≥ 2 000 pairs/s')
  })
})
