import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { originalText, storedText } from '../src/stored-text.ts'
import { admin, describeWithServer } from './fixtures/test-database.ts'

const texts = [
  '',
  'plain',
  'π 🦊',
  'a\0b',
  '\uD800',
  'x\uDC00y',
  '\uFDD0',
  '\uFDD0"a"',
  '\uFDD0\uFDD0',
  '\\u0000',
]
const anyText = fc.string({ unit: 'binary', size: 'medium' })
const awkward = fc.string({
  unit: fc.constantFrom('\0', '\uD800', '\uDC00', '\uFDD0', '"', '\\', 'u', '0', 'π', '🦊'),
})

describe('storedText', () => {
  it('leaves a text as it is unless PostgreSQL could not hold it or it begins with the mark', () => {
    expect(texts.map(storedText)).toEqual([
      '',
      'plain',
      'π 🦊',
      '\uFDD0"a\\u0000b"',
      '\uFDD0"\\ud800"',
      '\uFDD0"x\\udc00y"',
      '\uFDD0"\uFDD0"',
      '\uFDD0"\uFDD0\\"a\\""',
      '\uFDD0"\uFDD0\uFDD0"',
      '\\u0000',
    ])
  })

  it('gives every text back, and different ones for different texts', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, awkward), fc.oneof(anyText, awkward), (one, other) => {
        expect(originalText(storedText(one))).toBe(one)
        expect(storedText(one) === storedText(other)).toBe(one === other)
      }),
    )
  })

  it('returns what another program wrote after the mark as it is', () => {
    for (const text of ['\uFDD0', '\uFDD0{', '\uFDD05']) expect(originalText(text)).toBe(text)
  })
})

describeWithServer('a column of text', () => {
  it('holds every stored text, and neither NUL nor a lone surrogate without that', async () => {
    for (const text of texts) {
      const { rows } = await admin().query('SELECT $1::text AS text', [storedText(text)])
      expect(originalText((rows[0] as { text: string }).text)).toBe(text)
    }
    await expect(admin().query('SELECT $1::text', ['a\0b'])).rejects.toMatchObject({
      code: '22021',
    })
    const { rows } = await admin().query('SELECT $1::text AS text', ['\uD800'])
    expect(rows).toEqual([{ text: '\uFFFD' }])
  })
})
