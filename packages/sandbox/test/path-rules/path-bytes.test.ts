import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeName, encodeNames, pathOfName } from '../../src/path-rules/path-bytes.ts'

describe('decodeName', () => {
  test('gives text from which encodeNames makes the same bytes again', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (array) => {
        const name = Buffer.from(array)
        expect(encodeNames(decodeName(name))).toEqual(name)
      }),
    )
  })

  test('is plain decoding where the bytes are UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(decodeName(Buffer.from(text))).toBe(text)
        expect(pathOfName(text)).toBe(text)
      }),
    )
  })

  test('keeps different names apart', () => {
    const names = [[0xff], [0xfe], [0xef, 0xbf, 0xbd], [0xff, 0xff]].map((bytes) =>
      decodeName(Buffer.from(bytes)),
    )
    expect(new Set(names).size).toBe(4)
  })
})
