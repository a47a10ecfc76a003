import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'
import { aiSdkMajors } from '../fixtures/ai-sdk-majors.ts'

const throws = (): never => {
  throw new Error('hands off')
}
const errorWith = (name: string): Error =>
  Object.defineProperty(new Error('declined'), name, { get: throws })
const objectWith = (name: string): object =>
  Object.defineProperty({}, name, { get: throws, enumerable: true })
const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()
const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

const unreadable: readonly (readonly [what: string, thrown: unknown])[] = [
  ['an error whose message throws', errorWith('message')],
  ['an error whose code throws', errorWith('code')],
  ['an error whose cause throws', errorWith('cause')],
  ['an object whose message throws', objectWith('message')],
  ['an object whose name throws', objectWith('name')],
  ['an object that cannot become JSON', objectWith('body')],
  ['an object with a cycle', cycle],
  ['a proxy that refuses everything', new Proxy({}, { get: throws, getPrototypeOf: throws })],
  ['a revoked proxy', revoked],
]

describe.each(unreadable)('%s, thrown by a tool', (_what, thrown) => {
  it('leaves the row of a failure whose outcome is unknown', async () => {
    const log = createMemoryLog()
    // The second attempt puts a note before the message.
    for (const attempt of [1, 2]) {
      const pay = defineTool({
        name: 'pay',
        schema: z.object({}),
        sideEffect: true,
        idempotent: false,
        acceptsContext: true,
        execute: async () => {
          throw thrown
        },
      })
      const { tools } = createToolRun({ runId: 'r', attempt, log })
      await expect(tools({ pay }).pay.execute({}, callOptions())).rejects.toMatchObject({
        code: 'TOOL_FAILED',
        message: expect.stringContaining('Tool "pay" threw a value that cannot be read'),
      })
      expect(log.snapshot()[attempt - 1]).toMatchObject({ status: 'error', effect: 'unknown' })
    }
  })

  it.each(aiSdkMajors)('does not end the agent of AI SDK $major', async ({ generate }) => {
    const pay = defineTool({
      name: 'pay',
      schema: z.object({}),
      execute: async () => {
        throw thrown
      },
    })
    const turns = [[{ id: 'c', tool: 'pay', input: {} }]]
    const { shown } = await generate(createToolRun().tools({ pay }), turns)
    expect(shown).toContain('cannot be read')
  })
})

it('keeps an error whose cause cannot be read, and records it', async () => {
  const log = createMemoryLog()
  const thrown = new Error('declined', { cause: errorWith('message') })
  const pay = defineTool({
    name: 'pay',
    schema: z.object({}),
    execute: async () => {
      throw thrown
    },
  })
  const { tools } = createToolRun({ log })
  await expect(tools({ pay }).pay.execute({}, callOptions())).rejects.toBe(thrown)
  expect(JSON.parse(log.snapshot()[0]?.errorJson ?? 'null')).toMatchObject({
    message: 'declined',
    cause: { message: 'Something was thrown that cannot be read.' },
  })
})
