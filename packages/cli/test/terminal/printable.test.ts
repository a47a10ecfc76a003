import { assert, integer, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { printable, printableLine } from '../../src/terminal/printable.ts'

describe('printable', () => {
  test('shows the escape sequences of a text instead of sending them', () => {
    expect(printable('\u001b[2Jgone\u0007')).toBe(String.raw`\x1b[2Jgone\x07`)
    expect(printable('\u009b31mred')).toBe(String.raw`\x9b31mred`)
  })

  test('shows controls of text direction and invisible characters, which change what a person reads', () => {
    expect(printable('rm \u202e\u2066/ \u200bok\u2028next')).toBe(
      String.raw`rm \u202e\u2066/ \u200bok\u2028next`,
    )
  })

  test('keeps what is no control character', () => {
    expect(printable('a\tb\nc\r\nd é 漢 🦩')).toBe('a\tb\nc\nd é 漢 🦩')
  })

  test('lets no control character through, whatever the text', () => {
    assert(
      property(string({ unit: 'binary' }), (text) => {
        const codes = Array.from(printable(text), (character) => character.codePointAt(0) ?? 0)
        const obeyed = codes.filter(
          (code) => (code < 0x20 && code !== 9 && code !== 10) || (code >= 0x7f && code < 0xa0),
        )
        expect(obeyed).toEqual([])
      }),
    )
  })
})

describe('printableLine', () => {
  test('fits any text into one line of the width, without cutting a character in half', () => {
    assert(
      property(string({ unit: 'grapheme' }), integer({ min: 1, max: 60 }), (text, width) => {
        const line = printableLine(text, width)
        expect(Array.from(line).length).toBeLessThanOrEqual(width)
        expect(line).not.toContain('\n')
        expect(line).not.toMatch(/\p{Surrogate}/u)
      }),
    )
  })

  test('says that something was cut', () => {
    expect(printableLine('abcdef', 4)).toBe('abc…')
    expect(printableLine('abcd', 4)).toBe('abcd')
  })
})
