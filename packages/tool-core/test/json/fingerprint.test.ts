import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprint } from '@smithers/tool-core'

function expected(text: string): { bytes: number; sha256: string } {
  return {
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
  }
}

test('a fingerprint is the size and the SHA-256 of the UTF-8 form', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(2000), (text, times) => {
      const long = text.repeat(times)
      expect(fingerprint(long)).toEqual(expected(long))
    }),
  )
})

test.each([
  ['one byte a character', 'x'],
  ['two', 'é'],
  ['three', '€'],
  ['four', '🙂'],
])('texts about as long as the memory they are encoded in are whole: %s', (_name, character) => {
  for (const length of [65_530, 87_381, 131_070, 131_072, 262_138, 262_140, 262_144, 262_150]) {
    const text = character.repeat(length).slice(0, length)
    expect(fingerprint(text)).toEqual(expected(text))
  }
})

test('a text is not taken for the one before it', () => {
  const [a, b] = ['a'.repeat(1000), `${'a'.repeat(999)}b`]
  expect([fingerprint(a), fingerprint(b), fingerprint(a)]).toEqual([a, b, a].map(expected))
})
