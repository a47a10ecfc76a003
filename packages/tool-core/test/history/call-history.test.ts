import { describe, expect, test } from 'vitest'
import { createToolRun, type ToolCallOptions, type ToolRunOptions } from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { createChargeTool } from '../fixtures/charge-tool.ts'
import { type Charge, StripeLikeProvider } from '../fixtures/provider.ts'

type Message = ToolCallOptions['messages'][number]
type Call = readonly [id: string, charge: Charge]

const ann = { customer: 'ann', amount: 100 }
const bob = { customer: 'bob', amount: 250 }

function exchangeOf([toolCallId, input]: Call): Message[] {
  const toolName = 'charge'
  return [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output: {} }] },
  ]
}

/** Makes calls one after the other, each with the conversation so far; returns the keys that they had. */
async function keysOf(
  log: MemoryLog,
  calls: readonly Call[],
  options: ToolRunOptions & { readonly history?: readonly Call[]; readonly pruned?: boolean } = {},
): Promise<(string | null)[]> {
  const { history = [], pruned = false, ...runOptions } = options
  const run = createToolRun({ runId: 'r', log, ...runOptions })
  const { charge } = run.tools({ charge: createChargeTool(new StripeLikeProvider()) })
  const rows = log.snapshot().length
  const messages = history.flatMap(exchangeOf)
  for (const call of calls) {
    await charge.execute(call[1], { toolCallId: call[0], messages: pruned ? [] : [...messages] })
    messages.push(...exchangeOf(call))
  }
  return log
    .snapshot()
    .slice(rows)
    .map(({ idempotencyKey }) => idempotencyKey)
}

describe('the occurrence of a call', () => {
  test('counts equal calls, whatever their ids and the calls between them', async () => {
    const [a, b, again] = await keysOf(createMemoryLog(), [
      ['1', ann],
      ['2', bob],
      ['3', ann],
    ])
    expect(new Set([a, b, again]).size).toBe(3)
    const reordered: Call[] = [
      ['4', ann],
      ['5', ann],
      ['6', bob],
    ]
    expect(await keysOf(createMemoryLog(), reordered)).toEqual([a, again, b])
  })

  test('does not depend on what the conversation still holds', async () => {
    const calls: Call[] = [
      ['1', ann],
      ['2', ann],
    ]
    const whole = await keysOf(createMemoryLog(), calls)
    expect(await keysOf(createMemoryLog(), calls, { pruned: true })).toEqual(whole)
  })

  test('continues with its conversation, and begins again with a new one', async () => {
    const log = createMemoryLog()
    const [first, second, third] = await keysOf(createMemoryLog(), [
      ['1', ann],
      ['2', ann],
      ['3', ann],
    ])
    const history: Call[] = [['1', ann]]
    expect(await keysOf(log, history)).toEqual([first])
    const next: Call[] = [
      ['8', ann],
      ['9', ann],
    ]
    expect(await keysOf(log, next, { attempt: 2, history })).toEqual([second, third])
    expect(await keysOf(log, next, { attempt: 3 })).toEqual([first, second])
  })

  test('can be told of a conversation whose history was pruned', async () => {
    const log = createMemoryLog()
    const [first] = await keysOf(log, [['1', ann]])
    const pruned = { attempt: 2, pruned: true }
    const [continued] = await keysOf(log, [['2', ann]], { ...pruned, lineage: 'continued' })
    expect(continued).not.toBe(first)
    const history: Call[] = [['1', ann]]
    const fresh = { attempt: 3, history, lineage: 'fresh' } as const
    expect(await keysOf(log, [['3', ann]], fresh)).toEqual([first])
  })

  test('is right with a provider that numbers the calls of every reply alike', async () => {
    const log = createMemoryLog()
    const calls: Call[] = [
      ['call_0', ann],
      ['call_0', bob],
      ['call_0', ann],
    ]
    const [a, b, again] = await keysOf(createMemoryLog(), calls)
    expect(new Set([a, b, again]).size).toBe(3)
    expect(await keysOf(log, calls.slice(0, 2))).toEqual([a, b])
    const resumed = { attempt: 2, history: calls.slice(0, 2) }
    expect(await keysOf(log, calls.slice(2), resumed)).toEqual([again])
  })

  test('is not misled by an id that an earlier attempt gave to another call', async () => {
    const log = createMemoryLog()
    const [first] = await keysOf(log, [
      ['call_1', ann],
      ['call_2', ann],
    ])
    const [, repeated] = await keysOf(
      log,
      [
        ['call_1', bob],
        ['call_2', ann],
      ],
      { attempt: 2 },
    )
    expect(repeated).toBe(first)
  })

  test('is another for each of thousands of equal calls', async () => {
    const calls = Array.from({ length: 3000 }, (_, n): Call => [`${n}`, ann])
    const keys = await keysOf(createMemoryLog(), calls, { pruned: true })
    expect(new Set(keys).size).toBe(3000)
  })
})
