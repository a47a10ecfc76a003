import { generateText, stepCountIs } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, SmithersError, type ToolRun } from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'
import { collect } from '../fixtures/collect.ts'
import { scriptedModel } from '../fixtures/scripted-model.ts'

const marker = '[smithers:tool-resume-warning]'

class Declined extends Error {
  override readonly name = 'Declined'
  readonly status = 402
}

/** A tool that succeeds at first, then throws. */
function payThatThrows(thrown: unknown) {
  let runs = 0
  return defineTool({
    name: 'pay',
    schema: z.object({}),
    sideEffect: true,
    execute: async (_args, _ctx) => {
      runs += 1
      if (runs > 1) throw thrown
      return 'paid'
    },
  })
}

const attempt = (log: MemoryLog, number: number): ToolRun =>
  createToolRun({ runId: 'r', log, attempt: number })

/** What the second attempt's repeated call throws. */
async function repeated(
  thrown: unknown,
  log = createMemoryLog(),
  warned = false,
): Promise<unknown> {
  const pay = payThatThrows(thrown)
  await attempt(log, 1).tools({ pay }).pay.execute({}, callOptions())
  const run = attempt(log, 2)
  if (warned) await run.retryWarning()
  return run
    .tools({ pay })
    .pay.execute({}, callOptions())
    .catch((error: unknown) => error)
}

describe('the error of a repeated call', () => {
  test('begins with what the call repeats, as a copy of the same class; the log has the original', async () => {
    const log = createMemoryLog()
    const declined = new Declined('card declined')
    const error = await repeated(declined, log)
    expect(error).toBeInstanceOf(Declined)
    expect(error).toMatchObject({ name: 'Declined', status: 402, cause: declined })
    expect((error as Error).message).toMatch(
      /^\[smithers:tool-resume-warning\] The call .* repeated .* and that succeeded\..*\ncard declined$/s,
    )
    expect(declined.message).toBe('card declined')
    expect(log.snapshot()[1]?.errorJson).not.toContain(marker)
  })

  test('keeps code, details and effect', async () => {
    const details = { exitCode: 1 }
    const thrown = new SmithersError('TOOL_COMMAND_FAILED', 'exit 1', { details, effect: 'none' })
    const error = await repeated(thrown)
    expect(error).toBeInstanceOf(SmithersError)
    expect(error).toMatchObject({ code: 'TOOL_COMMAND_FAILED', details, effect: 'none' })
    expect((error as SmithersError).toJSON().message).toContain(marker)
  })

  test.each([
    ['a DOMException', new DOMException('gone', 'AbortError'), { name: 'AbortError' }, 'gone'],
    ['a text', 'no such card', {}, 'no such card'],
    ['an object', { reason: 'no such card' }, {}, '{"reason":"no such card"}'],
    ['nothing', undefined, {}, 'unknown error'],
  ])('tells it of whatever was thrown: %s', async (_what, thrown, fields, text) => {
    const error = await repeated(thrown)
    expect(error).toMatchObject({ ...fields, cause: thrown })
    expect((error as Error).message.split('\n')).toEqual([expect.stringContaining(marker), text])
  })

  test('is the error itself for an agent that was warned, and for a call that repeats nothing', async () => {
    const declined = new Declined('card declined')
    expect(await repeated(declined, createMemoryLog(), true)).toBe(declined)
    const pay = payThatThrows(declined)
    const bound = attempt(createMemoryLog(), 1).tools({ pay }).pay
    await bound.execute({}, callOptions())
    await expect(bound.execute({}, callOptions())).rejects.toBe(declined)
  })

  test('says nothing of an older call to which a provider gave the same id', async () => {
    const log = createMemoryLog()
    const declined = new Declined('card declined')
    let fails = false
    const pay = defineTool({
      name: 'pay',
      schema: z.object({ amount: z.number() }),
      sideEffect: true,
      key: ({ amount }) => amount,
      execute: async (_args, _ctx) => {
        if (fails) throw declined
        return 'paid'
      },
    })
    const sameId = { toolCallId: 'call_0', messages: [] }
    await attempt(log, 1).tools({ pay }).pay.execute({ amount: 1 }, sameId)
    const second = attempt(log, 2).tools({ pay }).pay
    await second.execute({ amount: 1 }, sameId)
    fails = true
    await expect(second.execute({ amount: 2 }, sameId)).rejects.toBe(declined)
  })

  test('reaches the model, and the reader of a stream', async () => {
    const log = createMemoryLog()
    const pay = payThatThrows(new Declined('card declined'))
    await attempt(log, 1).tools({ pay }).pay.execute({}, callOptions())
    const model = scriptedModel([[{ id: 'call', tool: 'pay', input: {} }]])
    const tools = attempt(log, 2).tools({ pay })
    await generateText({ model, prompt: 'pay', tools, stopWhen: stepCountIs(2) })
    const shown = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt.at(-1))
    expect(shown).toContain(marker)
    expect(shown).toContain('card declined')

    let runs = 0
    const stream = defineTool({
      name: 'stream',
      schema: z.object({}),
      sideEffect: true,
      async *execute(_args, _ctx) {
        yield 'begun'
        runs += 1
        if (runs > 1) throw new Declined('card declined')
      },
    })
    await collect(attempt(log, 3).tools({ stream }).stream.execute({}, callOptions()))
    const again = collect(attempt(log, 4).tools({ stream }).stream.execute({}, callOptions()))
    await expect(again).rejects.toThrow(marker)
  })
})
