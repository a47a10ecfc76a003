import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, SmithersError, type ToolRunOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { readRecordedJson } from '../../src/json/read-recorded-json.ts'
import { recordJson } from '../../src/json/recorded-json.ts'
import { compileRedaction } from '../../src/json/redaction.ts'
import { callOptions } from '../fixtures/charge-tool.ts'

const nothingHidden = compileRedaction({})

/** The row of one call of a tool that returns, or throws, what it is given. */
async function rowOf(
  output: unknown,
  options: ToolRunOptions = {},
  input: object = {},
  thrown?: { readonly value: unknown },
) {
  const log = createMemoryLog()
  const pay = defineTool({
    name: 'pay',
    schema: z.looseObject({}),
    sideEffect: true,
    execute: async (_args, _ctx) => {
      if (thrown !== undefined) throw thrown.value
      if (output instanceof Error) throw output
      return output
    },
  })
  const answer = await createToolRun({ log, ...options })
    .tools({ pay })
    .pay.execute(input as never, callOptions())
    .catch((error: unknown) => error)
  const [row] = log.snapshot()
  if (row === undefined) throw new Error('no row')
  return { ...row, answer }
}

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

describe('redaction', () => {
  const secrets = {
    apiKey: 'k-1',
    'x-api-key': 'k-2',
    Authorization: 'Bearer k-3',
    nested: [{ password: 1234, access_token: 'k-4' }],
    client_secret: 'k-5',
    secretKey: 'k-6',
    'signing-key': 'k-7',
    db_pwd: 'k-8',
    passwordHash: 'k-9',
    bearer: 'k-10',
    sessionJwt: 'k-11',
    headers: [
      ['Authorization', 'Bearer k-12'],
      ['x-api-key', 'k-13'],
    ],
  }

  test('hides the values of properties that are named like secrets, in input, output and errors', async () => {
    const success = await rowOf(secrets, {}, secrets)
    const failure = await rowOf(
      new SmithersError('TOOL_COMMAND_FAILED', 'no', { details: { secrets } }),
    )
    for (const json of [success.inputJson, success.outputJson, failure.errorJson]) {
      expect(json).toContain('[redacted]')
      expect(json).not.toMatch(/k-\d|1234/)
    }
    expect(success.answer).toBe(secrets)
  })

  test.each([
    [
      ['API_KEY=k-1', 'true'],
      ['API_KEY=[redacted]', 'true'],
    ],
    [
      ['--token=k-1', '--verbose'],
      ['--token=[redacted]', '--verbose'],
    ],
    [
      ['-c', 'password=k-1', 'x'],
      ['-c', 'password=[redacted]', 'x'],
    ],
    [
      ['PATH=/usr/bin', 'true'],
      ['PATH=/usr/bin', 'true'],
    ],
    [
      ['print the token', 'true'],
      ['print the token', 'true'],
    ],
    [
      ['Authorization', 'Bearer k-1'],
      ['Authorization', '[redacted]'],
    ],
  ])('hides the secret in %j, and not the word beside it', async (args, shown) => {
    const { outputJson } = await rowOf({ args })
    expect(JSON.parse(outputJson ?? '')).toEqual({ args: shown })
  })

  test('leaves numbers of tokens and other names alone', async () => {
    const harmless = {
      maxTokens: 5,
      tokens: 7,
      key: 'a',
      author: 'b',
      secretary: 'c',
      monkey: 'd',
      headers: [['accept', 'text/html']],
      path: ['token', 'x', 'y'],
    }
    expect((await rowOf(harmless)).outputJson).toBe(JSON.stringify(harmless))
  })

  test('hides the secrets of the run wherever a text holds them, also in error messages', async () => {
    const options = { redact: { values: ['s3cr3t'] } }
    expect((await rowOf({ url: 'http://a:s3cr3t@b' }, options)).outputJson).toBe(
      '{"url":"http://a:[redacted]@b"}',
    )
    const { errorJson } = await rowOf(new Error('login with s3cr3t failed'), options)
    expect(errorJson).toContain('login with [redacted] failed')
    const names = { 's3cr3t-a': 1, b: { 's3cr3t-a': 2, 'x s3cr3t': 3 }, s3cr3t: 4, '[redacted]': 5 }
    const { outputJson } = await rowOf({ ...names, map: new Map([['s3cr3t', 1]]) }, options)
    expect(outputJson).not.toContain('s3cr3t')
    // Nothing is lost when two names become one.
    for (const value of [1, 2, 3, 4, 5]) expect(outputJson).toContain(`:${value}`)
  })

  test('hides further names, and what a function decides', async () => {
    const { outputJson } = await rowOf(
      { Card: '4242', cards: [{ number: '1' }, { number: '2' }], note: 'x' },
      {
        redact: {
          keys: ['card', /^note/],
          replace: (path, value) => (path === '$.cards[1].number' ? 'hidden' : value),
        },
      },
    )
    expect(outputJson).toBe(
      '{"Card":"[redacted]","cards":[{"number":"1"},{"number":"hidden"}],"note":"[redacted]"}',
    )
  })

  test('does not change the hash of the arguments', async () => {
    const one = await rowOf(1, {}, { password: 'a' })
    const two = await rowOf(1, {}, { password: 'b' })
    expect(one.inputJson).toBe(two.inputJson)
    expect(one.inputHash).not.toBe(two.inputHash)
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

describe('errors', () => {
  test('are recorded with code, cause and effect, and with stacks only when asked', async () => {
    const error = new SmithersError('TOOL_COMMAND_FAILED', 'exit 1', {
      details: { exitCode: 1 },
      cause: new TypeError('inner'),
    })
    const { errorJson, answer } = await rowOf(error)
    expect(answer).toBe(error)
    expect(JSON.parse(errorJson ?? '')).toEqual({
      name: 'SmithersError',
      code: 'TOOL_COMMAND_FAILED',
      message: 'exit 1',
      details: { exitCode: 1 },
      cause: { name: 'TypeError', message: 'inner' },
      effect: 'unknown',
    })
    const { errorJson: withStack } = await rowOf(error, { errorStacks: true })
    expect(withStack).toContain('recorded-json.test')
  })

  test.each([
    [
      'an object',
      { status: 500, password: 'x' },
      { details: { status: 500, password: '[redacted]' } },
    ],
    [
      'an object like an error',
      { name: 'E', code: 7, message: 'no' },
      { name: 'E', code: 7, message: 'no' },
    ],
    ['a text', 'no', { message: 'no' }],
    ['nothing', undefined, { message: 'undefined' }],
  ])('are recorded when they are no errors: %s', async (_what, thrown, recorded) => {
    const { errorJson } = await rowOf(undefined, {}, {}, { value: thrown })
    expect(errorJson).not.toContain('[object')
    expect(JSON.parse(errorJson ?? '')).toMatchObject(recorded)
  })

  test('are recorded with all of an aggregate, up to a number', async () => {
    const errors = Array.from({ length: 25 }, (_each, index) => new RangeError(`host ${index}`))
    const { errorJson } = await rowOf(new AggregateError(errors, 'all hosts failed'))
    const recorded = JSON.parse(errorJson ?? '') as { errors: unknown[] }
    expect(recorded.errors).toHaveLength(21)
    expect(recorded.errors[3]).toEqual({ name: 'RangeError', message: 'host 3' })
    expect(recorded.errors.at(-1)).toEqual({ $described: '5 more errors' })
  })

  test('keep their code and effect when they are too large for the log', async () => {
    const error = new SmithersError('TOOL_COMMAND_FAILED', `exit 1 ${'é"'.repeat(500)}`, {
      details: { output: 'x'.repeat(2000) },
    })
    const { errorJson } = await rowOf(error, { maxOutputBytes: 400 })
    expect(Buffer.byteLength(errorJson ?? '')).toBeLessThanOrEqual(400)
    const recorded = JSON.parse(errorJson ?? '') as Record<string, unknown>
    expect(recorded).toMatchObject({
      name: 'SmithersError',
      code: 'TOOL_COMMAND_FAILED',
      effect: 'unknown',
      $truncated: true,
    })
    expect(error.message.startsWith(String(recorded['message']))).toBe(true)
    expect(String(recorded['message']).length).toBeGreaterThan(100)
  })
})
