import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'
import { collect } from '../fixtures/collect.ts'
import { deferred } from '../fixtures/deferred.ts'

const empty = z.object({})

describe('timeoutMs', () => {
  test('aborts the signal, fails the call, and fences what comes later', async () => {
    const log = createMemoryLog()
    const late = deferred<string>()
    let reason: unknown
    const slow = defineTool({
      name: 'slow',
      schema: empty,
      sideEffect: true,
      timeoutMs: 10,
      execute: (_args, { abortSignal }) => {
        abortSignal.addEventListener('abort', () => {
          reason = abortSignal.reason
        })
        return late.promise
      },
    })
    const call = createToolRun({ log }).tools({ slow }).slow.execute({}, callOptions())
    await expect(call).rejects.toMatchObject({ code: 'TOOL_TIMEOUT' })
    expect(reason).toMatchObject({ code: 'TOOL_TIMEOUT' })
    const finished = log.snapshot()
    late.resolve('too late')
    await late.promise
    await new Promise((resolve) => setImmediate(resolve))
    expect(log.snapshot()).toEqual(finished)
    expect(finished).toMatchObject([{ status: 'error', effect: 'unknown', outputJson: null }])
  })

  test('holds for a stream as a whole', async () => {
    const endless = defineTool({
      name: 'endless',
      schema: empty,
      timeoutMs: 20,
      async *execute() {
        for (;;) {
          yield 'tick'
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      },
    })
    await expect(collect(endless.execute({}, callOptions()))).rejects.toMatchObject({
      code: 'TOOL_TIMEOUT',
    })
  })
})
