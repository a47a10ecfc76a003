import { defineTool } from '@smithers/tool-core'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'

const schema = z.object({ sku: z.string() })

describe('the definition-time warning', () => {
  const order = { name: 'order', schema, sideEffect: true, idempotent: false } as const
  const warned = (execute: unknown, more: object = {}): number => {
    const warn = vi.fn<(message: string) => void>()
    defineTool({ ...order, ...more, warn, execute: execute as () => string })
    return warn.mock.calls.length
  }

  test('speaks up once when execute does not take the context', () => {
    expect(warned(() => 'ok')).toBe(1)
    expect(warned(({ sku }: { sku: string }) => sku)).toBe(1)
    expect(warned(async (args: unknown) => args)).toBe(1)
  })

  test('is silent when execute takes it, however it says so', () => {
    expect(warned((_args: unknown, _ctx: unknown) => 'ok')).toBe(0)
    expect(warned((_args: unknown, _ctx = {}) => 'ok')).toBe(0)
    expect(warned((...all: unknown[]) => all)).toBe(0)
    expect(warned(({ sku = ',' } = { sku: 'x' }, { key } = { key: 1 }) => [sku, key])).toBe(0)
    expect(warned(warned.bind(null))).toBe(0)
  })

  test('is silent when the author has answered, or nothing can happen twice', () => {
    expect(warned(() => 'ok', { acceptsContext: true })).toBe(0)
    expect(warned(() => 'ok', { idempotent: true })).toBe(0)
    expect(warned(() => 'ok', { sideEffect: false, idempotent: undefined })).toBe(0)
  })
})
