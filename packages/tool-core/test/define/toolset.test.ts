import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool, toolset } from '@smithers/tool-core'
import { tool } from 'ai'

const named = (name: string) =>
  defineTool({ name, schema: z.object({}), execute: (_args, ctx) => ctx.toolName })

describe('toolset', () => {
  test('keys tools by names that every provider accepts, and leaves ctx.toolName alone', async () => {
    const tools = toolset([named('read'), named('wholefoods.place_order'), named('a/b c')])
    expect(Object.keys(tools)).toEqual(['read', 'wholefoods_place_order', 'a_b_c'])
    const order = tools['wholefoods_place_order']
    expect(await order?.execute({}, { toolCallId: 'c', messages: [] })).toBe(
      'wholefoods.place_order',
    )
  })

  test('refuses two tools of one name, a name that is too long, and other tools', () => {
    const invalid = (message: string) =>
      expect.objectContaining({ code: 'INVALID_TOOL', message: expect.stringContaining(message) })
    expect(() => toolset([named('a.b'), named('a_b')])).toThrow(invalid('both be called "a_b"'))
    expect(() => toolset([named('x'.repeat(65))])).toThrow(invalid('65 characters'))
    expect(() => toolset([tool({ inputSchema: z.object({}) }) as never])).toThrow(
      invalid('defineTool'),
    )
    expect(Object.keys(toolset([named('x'.repeat(64))]))).toHaveLength(1)
  })
})
