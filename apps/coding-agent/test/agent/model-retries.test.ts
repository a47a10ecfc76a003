import { APICallError, simulateReadableStream, streamText } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { modelRetries, notingRetries } from '../../src/agent/model-retries.ts'

function refusal(isRetryable: boolean): APICallError {
  return new APICallError({
    message: 'Overloaded',
    url: 'http://127.0.0.1:9/v1/messages',
    requestBodyValues: {},
    statusCode: isRetryable ? 503 : 400,
    isRetryable,
    // The AI SDK waits as long as this says.
    responseHeaders: { 'retry-after-ms': '1' },
  })
}

/** Asks a model whose first requests are answered with errors; what was noted, and how it ended. */
async function ask(errors: readonly Error[]): Promise<{ notes: string[]; text: string }> {
  const left = [...errors]
  const model = new MockLanguageModelV4({
    doStream: async () => {
      const error = left.shift()
      if (error !== undefined) throw error
      return {
        stream: simulateReadableStream({
          chunks: [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'hello' },
            { type: 'text-end', id: '1' },
            {
              type: 'finish',
              finishReason: { unified: 'stop', raw: undefined },
              usage: {
                inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
                outputTokens: { total: 1, text: 1, reasoning: 0 },
              },
            },
          ],
        }),
      }
    },
  })
  const notes: string[] = []
  const { fullStream } = streamText({
    model: notingRetries(model, (text) => notes.push(text)),
    maxRetries: modelRetries,
    prompt: 'Hi.',
    onError() {},
  })
  let text = ''
  for await (const part of fullStream) if (part.type === 'text-delta') text += part.text
  return { notes, text }
}

const again = (count: number): string =>
  `The model's provider at http://127.0.0.1:9 answered 503: Overloaded; retrying, ${count} of 2`

describe('notingRetries', () => {
  test('reports each request that is retried, but not the last failure', async () => {
    expect(await ask([refusal(true), refusal(true), refusal(true)])).toEqual({
      notes: [again(1), again(2)],
      text: '',
    })
  })

  test('reports a request that succeeds when retried', async () => {
    expect(await ask([refusal(true)])).toEqual({ notes: [again(1)], text: 'hello' })
  })

  test('tells nothing of a request that is not made again', async () => {
    expect(await ask([refusal(false)])).toEqual({ notes: [], text: '' })
    expect(await ask([new Error('no such model')])).toEqual({ notes: [], text: '' })
  })
})
