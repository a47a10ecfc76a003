import { describe, expect, test } from 'vitest'
import { SmithersError } from '@smithers/tool-core'
import { rowOf } from '../fixtures/row-of.ts'

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
    expect(withStack).toContain('recorded-error.test')
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
