import { APICallError, RetryError } from 'ai'
import { SmithersError } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { describeError } from '../../src/errors/describe-error.ts'

function apiError(statusCode?: number): APICallError {
  return new APICallError({
    message: 'No such model\nstack of the server',
    url: 'https://api.example.com/v1/chat?key=secret',
    requestBodyValues: {},
    ...(statusCode === undefined ? {} : { statusCode }),
  })
}

describe('describeError', () => {
  test('gives the code of an error that has one', () => {
    expect(describeError(new SmithersError('TOOL_TIMEOUT', 'It took too long.'))).toBe(
      'It took too long. (TOOL_TIMEOUT)',
    )
  })

  test('says what the provider answered, without the query of its address', () => {
    expect(describeError(apiError(404))).toBe(
      "The model's provider at https://api.example.com answered 404: No such model",
    )
    expect(describeError(apiError())).toBe(
      "The model's provider at https://api.example.com did not answer: No such model",
    )
  })

  test('tells the last of several tries', () => {
    const error = new RetryError({
      message: 'Failed after 3 attempts.',
      reason: 'maxRetriesExceeded',
      errors: [new Error('first'), apiError(503)],
    })
    expect(describeError(error)).toMatch(/answered 503: No such model$/)
  })

  test.each([
    [new Error('first line\nsecond line'), 'first line'],
    [new TypeError(''), 'TypeError'],
    ['a text', 'a text'],
    [undefined, 'undefined'],
  ])('describes %s in one line', (error, text) => {
    expect(describeError(error)).toBe(text)
  })
})
