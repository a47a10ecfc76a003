import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'

const throws = (): never => {
  throw new Error('hands off')
}
const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()

const outputs: readonly (readonly [what: string, output: unknown])[] = [
  ['throws when asked what it has', new Proxy({}, { has: throws })],
  ['throws when its keys are listed', new Proxy({}, { ownKeys: throws })],
  ['throws when its prototype is asked for', new Proxy({}, { getPrototypeOf: throws })],
  ['holds something that was revoked', { held: revoked }],
  ['has a getter that throws', Object.defineProperty({}, 'id', { get: throws, enumerable: true })],
  // oxlint-disable-next-line unicorn/no-thenable -- the attack.
  ['has a "then" that is no function', Object.fromEntries([['then', 5]])],
  ['has an async iterator that is no function', { [Symbol.asyncIterator]: 5 }],
  ['has a toJSON that throws', { toJSON: throws }],
  ['is nested very deeply', Array.from({ length: 50_000 }).reduce((inner) => [inner], 1)],
]

describe.each(['at once', 'later'])('an output that comes %s', (when) => {
  it.each(outputs)('and %s is still the output of a call that has run', async (_what, output) => {
    const log = createMemoryLog()
    const run = createToolRun({ log })
    const pay = defineTool({
      name: 'pay',
      schema: z.object({}),
      sideEffect: true,
      acceptsContext: true,
      execute: when === 'later' ? async () => output : () => output,
    })
    const [row, given] = await run
      .tools({ pay })
      .pay.execute({}, callOptions())
      .then((value) => [log.snapshot()[0], { value }] as const)
    expect(given.value).toBe(output)
    expect(row).toMatchObject({ status: 'success', effect: 'applied' })
    await run.settle()
  })
})
