import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../src/json/canonical-json.ts'
import { hashInput } from '../../src/history/call-identity.ts'

// Read rather than imported: bundlers refuse the lone surrogate in it.
const vectors = JSON.parse(
  readFileSync(new URL('../fixtures/canonical-json.json', import.meta.url), 'utf8'),
) as { name: string; value: unknown; canonical: string; sha256: string }[]

describe('canonicalJson', () => {
  test.each(vectors)('matches the vector of $name', ({ value, canonical, sha256 }) => {
    expect(canonicalJson(value)).toBe(canonical)
    expect(hashInput(value)).toBe(sha256)
  })

  test('gives equal values one text, whatever the order of their properties', () => {
    fc.assert(
      fc.property(
        fc.object({ withBigInt: true, withDate: true, withMap: true, withSet: true }),
        (value) => {
          const reversed = (part: unknown): unknown => {
            if (Array.isArray(part)) return part.map(reversed)
            if (typeof part !== 'object' || part === null) return part
            const prototype: unknown = Object.getPrototypeOf(part)
            if (prototype !== Object.prototype && prototype !== null) return part
            const entries = Object.entries(part).toReversed()
            const copy = Object.create(null) as Record<string, unknown>
            for (const [key, inner] of entries) copy[key] = reversed(inner)
            return copy
          }
          const text = tryCanonical(value)
          expect(tryCanonical(reversed(value))).toBe(text)
        },
      ),
    )
  })

  test('gives different JSON values different texts', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.jsonValue(), (a, b) => {
        // -0 is 0 in JSON.
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
        expect(canonicalJson(a) === canonicalJson(b)).toBe(same)
      }),
    )
  })

  test('holds a long text by the SHA-256 of its UTF-8, which other programs compute alike', () => {
    const shorter = 'é"'.repeat(2048)
    expect(canonicalJson({ text: shorter })).toBe(`{"text":${JSON.stringify(shorter)}}`)
    const longer = `${shorter}.`
    const sha256 = createHash('sha256').update(longer).digest('hex')
    expect(canonicalJson({ text: longer })).toBe(`{"text":{"$text":"${sha256}"}}`)
    expect(canonicalJson([`${longer} `])).not.toBe(canonicalJson([longer]))
    // Arguments that only look like it are other arguments.
    expect(canonicalJson({ text: { $text: sha256 } })).toBe(
      `{"text":{"$object":{"$text":"${sha256}"}}}`,
    )
  })

  test('is JSON that reads back as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)
        fc.pre(!text.includes('"$'))
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test.each([
    [new Date(0), '{"$date":"1970-01-01T00:00:00.000Z"}'],
    [10n, '{"$bigint":"10"}'],
    [Number.NaN, '{"$num":"NaN"}'],
    [-Infinity, '{"$num":"-Infinity"}'],
    [
      new Map([
        ['b', 1],
        ['a', 2],
      ]),
      '{"$map":[["a",2],["b",1]]}',
    ],
    [new Set(['b', 'a']), '{"$set":["a","b"]}'],
    [[undefined], '[{"$undefined":true}]'],
    [{ a: undefined, b: 1 }, '{"b":1}'],
    [
      new TextEncoder().encode('abc'),
      '{"$sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}',
    ],
    [JSON.parse('{"__proto__":{"n":1},"d":1}'), '{"__proto__":{"n":1},"d":1}'],
  ])('writes %o as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  test('sees the bytes of a view, not those around it', () => {
    const bytes = new TextEncoder().encode('xabcx')
    expect(canonicalJson(bytes.subarray(1, 4))).toBe(canonicalJson(new TextEncoder().encode('abc')))
  })

  class Order {
    id = 1
  }
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  test.each([
    ['a function', { run: () => 1 }],
    ['a symbol', { a: Symbol('a') }],
    ['an instance of Order', { order: new Order() }],
    ['an instance of URL', { url: new URL('http://localhost') }],
    ['an invalid date', { at: new Date('x') }],
    ['contains itself', cyclic],
  ])('refuses %s instead of writing {}', (what, value) => {
    expect(() => canonicalJson(value)).toThrow(
      expect.objectContaining({
        code: 'TOOL_INPUT_NOT_CANONICAL',
        message: expect.stringContaining(what) as string,
      }),
    )
  })
})

function tryCanonical(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch (error) {
    return (error as { code: string }).code
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null) as Record<string, unknown>
  for (const key of Object.keys(value).toSorted()) {
    copy[key] = sorted((value as Record<string, unknown>)[key])
  }
  return copy
}
