import * as fc from 'fast-check'
import { validate, version } from 'uuid'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, type ToolRunOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { hashInput, idempotencyKey, type KeyMaterial } from '../../src/history/call-identity.ts'
import { callOptions } from '../fixtures/charge-tool.ts'
import vectors from '../fixtures/idempotency-keys.json' with { type: 'json' }

describe('idempotencyKey', () => {
  test.each(vectors)('matches the vector of $name', ({ material, occurrence, key, args }) => {
    expect(idempotencyKey(material as KeyMaterial, occurrence)).toBe(key)
    expect(args === undefined ? material.subject : hashInput(args)).toBe(material.subject)
  })

  const materials = fc.record({
    namespace: fc.string(),
    runId: fc.string({ unit: 'binary' }),
    nodeId: fc.string(),
    iteration: fc.nat(),
    toolName: fc.string(),
    subject: fc.string(),
  })

  test('is a UUID of version 5 and 36 characters, which every provider accepts', () => {
    fc.assert(
      fc.property(materials, fc.nat(), (material, occurrence) => {
        const key = idempotencyKey(material, occurrence)
        expect(key).toHaveLength(36)
        expect(validate(key) && version(key)).toBe(5)
        expect(idempotencyKey({ ...material }, occurrence)).toBe(key)
      }),
    )
  })

  test('differs when anything that identifies the call differs', () => {
    fc.assert(
      fc.property(materials, materials, fc.nat(9), fc.nat(9), (a, b, m, n) => {
        const same = m === n && Object.entries(a).every(([k, v]) => b[k as keyof typeof b] === v)
        expect(idempotencyKey(a, m) === idempotencyKey(b, n)).toBe(same)
      }),
    )
  })
})

describe('hashInput', () => {
  test('with a secret cannot be had from the arguments alone', () => {
    expect(hashInput({ pin: 1234 }, 'secret')).not.toBe(hashInput({ pin: 1234 }))
    expect(hashInput({ pin: 1234 }, 'secret')).not.toBe(hashInput({ pin: 1234 }, 'other'))
    expect(hashInput({ pin: 1234 }, 'secret')).toBe(hashInput({ pin: 1234 }, 'secret'))
  })
})

describe('the key option', () => {
  const first = { id: 1, memo: 'lunch' }
  const reworded = { id: 1, memo: 'for lunch' }

  test('makes a key from the arguments by default, another for each equal call', async () => {
    const keys = await keysOf(undefined, [first, reworded, first])
    expect(new Set(keys).size).toBe(3)
    expect(await keysOf('call', [first, first, reworded])).toEqual([keys[0], keys[2], keys[1]])
  })

  test('makes one from what the function names, whatever else the arguments say', async () => {
    const [a, again] = await keysOf(idOf, [first, first])
    expect(await keysOf(idOf, [reworded, reworded])).toEqual([a, again])
    expect(a).not.toBe(again)
  })

  test('gives the documented key of the task, for one tool or for a run', async () => {
    const documented = 'smithers:r:n:0'
    expect(await keysOf('task', [first, reworded])).toEqual([documented, documented])
    expect(await keysOf(undefined, [first], { keyScope: 'task' })).toEqual([documented])
  })

  test('serves arguments that have no canonical form', async () => {
    const args = { url: 'http://localhost/' } as never
    const named = createFetch({ key: ({ url }: { url: URL }) => url.href })
    expect(await named.execute(args, callOptions())).toBe('http://localhost/')
    await expect(createFetch({}).execute(args, callOptions())).rejects.toMatchObject({
      code: 'TOOL_INPUT_NOT_CANONICAL',
      effect: 'none',
    })
  })
})

async function keysOf(
  key: 'call' | 'task' | ((args: { id: number; memo: string }) => unknown) | undefined,
  calls: readonly { id: number; memo: string }[],
  options: ToolRunOptions = {},
): Promise<string[]> {
  const pay = defineTool({
    name: 'pay',
    schema: z.object({ id: z.number(), memo: z.string() }),
    sideEffect: true,
    ...(key && { key }),
    execute: (_args, ctx) => ctx.idempotencyKey,
  })
  const { tools } = createToolRun({ runId: 'r', nodeId: 'n', log: createMemoryLog(), ...options })
  return Promise.all(calls.map((call) => tools({ pay }).pay.execute(call, callOptions())))
}

function idOf({ id }: { readonly id: number }): unknown {
  return [id]
}

function createFetch(more: object) {
  return defineTool({
    name: 'fetch',
    schema: z.object({ url: z.string().transform((text) => new URL(text)) }),
    execute: ({ url }) => url.href,
    ...more,
  })
}
