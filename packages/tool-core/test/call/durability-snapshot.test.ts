import { createToolRun, defineTool } from '@smithers/tool-core'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { callOptions } from '../fixtures/charge-tool.ts'

const empty = z.object({})

describe('durabilitySnapshot', () => {
  test('runs after every tool with a side effect that ran, with its name and the id of the call', async () => {
    const durabilitySnapshot = vi.fn<(name: string, id: string) => void>()
    const { tools } = createToolRun({ durabilitySnapshot })
    const { ok, fail, read } = tools({
      ok: defineTool({ name: 'shop.ok', schema: empty, sideEffect: true, execute: (_a, _c) => 1 }),
      fail: defineTool({
        name: 'fail',
        schema: empty,
        sideEffect: true,
        execute: (_a, _c) => Promise.reject(new Error('no')),
      }),
      read: defineTool({ name: 'read', schema: empty, execute: () => 1 }),
    })
    await ok.execute({}, { toolCallId: 'call-ok', messages: [] })
    await fail.execute({}, { toolCallId: 'call-fail', messages: [] }).catch(() => {})
    await ok.execute(1 as never, { toolCallId: 'call-invalid', messages: [] }).catch(() => {})
    await read.execute({}, { toolCallId: 'call-read', messages: [] })
    expect(durabilitySnapshot.mock.calls).toEqual([
      ['shop.ok', 'call-ok'],
      ['fail', 'call-fail'],
    ])
  })

  test('that fails, at once or later, does not fail the tool', async () => {
    const ok = defineTool({ name: 'ok', schema: empty, sideEffect: true, execute: (_a, _c) => 1 })
    for (const durabilitySnapshot of [
      () => Promise.reject(new Error('no disk')),
      () => {
        throw new Error('no disk')
      },
    ]) {
      const { tools } = createToolRun({ durabilitySnapshot })
      expect(await tools({ ok }).ok.execute({}, callOptions())).toBe(1)
    }
  })
})
