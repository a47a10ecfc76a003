import { describe, expect, test } from 'vitest'
import { SmithersError } from '@smithers/tool-core'
import { rowOf } from '../fixtures/row-of.ts'

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
