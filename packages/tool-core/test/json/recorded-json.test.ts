import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { readRecordedJson } from '../../src/json/read-recorded-json.ts'
import { recordJson } from '../../src/json/recorded-json.ts'
import { compileRedaction } from '../../src/json/redaction.ts'
import { callOptions } from '../fixtures/charge-tool.ts'
import { rowOf } from '../fixtures/row-of.ts'

const nothingHidden = compileRedaction({})

describe('recordJson', () => {
  test('records and reads back every value that JSON or a tag can hold', () => {
    fc.assert(
      fc.property(
        fc.object({ withBigInt: true, withDate: true, withMap: true, withSet: true, maxDepth: 4 }),
        (value) => {
          const { json, exact } = recordJson(value, nothingHidden, 1e6)
          fc.pre(exact && !JSON.stringify(json).includes('undefined'))
          expect(recordJson(readRecordedJson(json), nothingHidden, 1e6).json).toBe(json)
        },
      ),
    )
  })

  test('never throws and never exceeds the limit, with valid JSON cut between characters', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true }),
        fc.string({ unit: 'grapheme', minLength: 100 }),
        fc.integer({ min: 150, max: 400 }),
        (value, text, limit) => {
          // The mark of a character cut in two; the input must not hold it itself.
          fc.pre(!recordJson([value, text], nothingHidden, 1e6).json?.includes('\uFFFD'))
          const { json } = recordJson([value, text], nothingHidden, limit)
          expect(Buffer.byteLength(json ?? '')).toBeLessThanOrEqual(limit)
          expect(JSON.stringify(JSON.parse(json ?? ''))).not.toContain('\uFFFD')
        },
      ),
    )
  })

  test('puts size, hash and beginning of what is over the limit', () => {
    const text = '€"'.repeat(1000)
    const full = JSON.stringify(text)
    const { json, exact } = recordJson(text, nothingHidden, 300)
    const { head, ...rest } = JSON.parse(json ?? '') as Record<string, unknown>
    expect(exact).toBe(false)
    expect(rest).toEqual({
      $truncated: true,
      bytes: Buffer.byteLength(full),
      sha256: createHash('sha256').update(full).digest('hex'),
    })
    expect(full.startsWith(head as string)).toBe(true)
    expect(Buffer.byteLength(json ?? '')).toBeGreaterThan(250)
  })

  test('stores a payload of exactly the limit whole', () => {
    const text = 'x'.repeat(498)
    expect(recordJson(text, nothingHidden, 500)).toEqual({ json: `"${text}"`, exact: true })
    expect(recordJson(`${text}x`, nothingHidden, 500).json).toContain('$truncated')
  })
})

describe('a paid call whose result JSON cannot hold', () => {
  const cyclic: Record<string, unknown> = { id: 'ch_1' }
  cyclic['self'] = cyclic
  const unreadable = {
    get id(): string {
      throw new Error('gone')
    },
  }

  test.each([
    ['cyclic', cyclic, '{"id":"ch_1","self":{"$cycle":"$"}}'],
    ['a BigInt', { amount: 100n }, '{"amount":{"$bigint":"100"}}'],
    ['a function', { undo: cyclic.constructor }, '{"undo":{"$described":"function Object"}}'],
    ['unreadable', unreadable, '{"$described":"an object that cannot be read"}'],
    [
      'a class instance',
      new (class Charge {
        id = 'ch_1'
      })(),
      '{"$described":"Charge","id":"ch_1"}',
    ],
    ['bytes', new Uint8Array(2), expect.stringContaining('"bytes":2')],
    ['undefined', undefined, null],
  ])('succeeds, and its record describes it: %s', async (_what, output, outputJson) => {
    const row = await rowOf(output)
    expect(row.answer).toBe(output)
    expect(row).toMatchObject({ status: 'success', effect: 'applied', outputJson })
  })
})

describe('logInput and logOutput', () => {
  const content = 'the text of the file'
  const write = defineTool({
    name: 'write',
    schema: z.object({ path: z.string(), content: z.string() }),
    logInput: ({ path, content: text }) => ({ path, bytes: text.length }),
    logOutput: () => {
      throw new Error(content)
    },
    execute: async ({ content: text }) => text,
  })

  test('decide what is recorded; one that fails hides the value and not the result', async () => {
    const log = createMemoryLog()
    const bound = createToolRun({ log }).tools({ write }).write
    expect(await bound.execute({ path: 'a', content }, callOptions())).toBe(content)
    await bound.execute({ path: 7, content } as never, callOptions()).catch(() => {})
    expect(JSON.stringify(log.snapshot())).not.toContain(content)
    expect(log.snapshot()).toMatchObject([
      { inputJson: '{"path":"a","bytes":20}', outputJson: expect.stringContaining('Error') },
      { inputJson: expect.stringContaining('string of 20 bytes'), status: 'error' },
    ])
  })
})
