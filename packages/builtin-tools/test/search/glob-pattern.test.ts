import { matchesGlob } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileGlob } from '../../src/search/glob-pattern.ts'

const name = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 4 })
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
const piece = fc.oneof(
  fc.constant('**'),
  fc
    .array(fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '{a,b}', '{ab,a*}'), {
      minLength: 1,
      maxLength: 3,
    })
    .map((parts) => parts.join(''))
    .filter((text) => !text.includes('**')),
)
const braced = fc.tuple(piece, fc.constantFrom('', '{a,b}', '{ab,a*}')).map((both) => both.join(''))
const pattern = fc.array(braced, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))

describe('compileGlob', () => {
  it('agrees with the globs of Node on random patterns and paths', () => {
    let matching = 0
    fc.assert(
      fc.property(pattern, path, (glob, given) => {
        // To Node, "a/**" does not match "a", and "**" beside other characters is a single star.
        fc.pre((glob.match(/\{/gu)?.length ?? 0) <= 6)
        fc.pre(!glob.endsWith('**') && !/\*\*\{/u.test(glob))
        const expected = matchesGlob(given, glob)
        if (expected) matching += 1
        expect(compileGlob(glob)(given), `${glob} ${given}`).toBe(expected)
      }),
      { numRuns: 20_000 },
    )
    expect(matching).toBeGreaterThan(500)
  })

  it.each([
    ['a/**', 'a', true],
    ['**', 'a/b', true],
    ['[!a-c]x', 'dx', true],
    ['[a-c]x', 'bx', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['{a,{b,c}d}', 'cd', true],
    ['{a', '{a', true],
    ['*.ts', '.ts', true],
  ])('%s on %s: %s', (glob, given, expected) => {
    expect(compileGlob(glob)(given)).toBe(expected)
  })

  it('takes a pattern at once that would take a regular expression years', () => {
    const stars = `${'*a'.repeat(120)}b`
    expect(compileGlob(stars)('a'.repeat(255))).toBe(false)
    const deep = `${'**/a/'.repeat(60)}b`
    expect(compileGlob(deep)(`${'a/'.repeat(500)}c`)).toBe(false)
  })
})
