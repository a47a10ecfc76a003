import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { truncatedJson, truncatedText } from '../../src/json/truncated-json.ts'

test('a long text is cut as its whole JSON is', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.integer({ min: 1, max: 200_000 }),
      fc.integer({ min: 150, max: 300_000 }),
      (unit, length, limit) => {
        const text = unit.repeat(Math.ceil(length / unit.length))
        expect(truncatedText(text, limit)).toBe(truncatedJson(JSON.stringify(text), limit))
      },
    ),
    { numRuns: 200 },
  )
})

test('a pair of surrogates between two pieces stays a pair', () => {
  const text = `${'x'.repeat(65_535)}🙂${'y'.repeat(70_000)}`
  expect(truncatedText(text, 100_000)).toBe(truncatedJson(JSON.stringify(text), 100_000))
  expect(truncatedText(text, 100_000)).toContain('🙂')
})
