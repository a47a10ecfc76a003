import { createToolRun, defineTool, getDefinedToolMetadata } from '@smithers/tool-core'
import { tool } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const schema = z.object({ sku: z.string() })

describe('getDefinedToolMetadata', () => {
  const order = defineTool({ name: 'order', schema, sideEffect: true, execute: (_a, _c) => 'ok' })
  const expected = { name: 'order', sideEffect: true, idempotent: false }

  test('returns exactly the name and the two flags', () => {
    expect(getDefinedToolMetadata(order)).toEqual(expected)
    const execute = async (_a: unknown, _c: unknown) => 'ok'
    const upsert = defineTool({ name: 'u', schema, idempotent: true, sideEffect: true, execute })
    expect(getDefinedToolMetadata(upsert)).toEqual({
      name: 'u',
      sideEffect: true,
      idempotent: true,
    })
  })

  test('survives spreading, tool() and binding to a run', () => {
    expect(getDefinedToolMetadata({ ...order })).toEqual(expected)
    expect(getDefinedToolMetadata(tool(order as never))).toEqual(expected)
    expect(getDefinedToolMetadata(createToolRun().tools({ order }).order)).toEqual(expected)
  })

  test('is null for plain tools and everything else', () => {
    for (const value of [tool({ inputSchema: schema }), {}, null, undefined, 1, 'order', () => 1]) {
      expect(getDefinedToolMetadata(value)).toBeNull()
    }
  })
})
