import { asSchema, generateText } from 'ai'
import { describe, expect, test } from 'vitest'
import { z, type ZodType } from 'zod'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { callOptions } from '../fixtures/charge-tool.ts'
import { scriptedModel } from '../fixtures/scripted-model.ts'

/** What a tool gets of an input that the AI SDK has parsed, and what it gets of the same input in a direct call. */
async function received(field: ZodType, input: object): Promise<{ sdk: unknown; direct: unknown }> {
  const seen: unknown[] = []
  const tool = defineTool({
    name: 'tool',
    schema: z.object({ field }),
    execute: async (args) => {
      seen.push(args)
      return 'ok'
    },
  })
  const model = scriptedModel([[{ id: 'c', tool: 'tool', input }]])
  const tools = createToolRun().tools({ tool })
  await generateText({ model, prompt: 'go', tools })
  await tools.tool.execute(input as never, callOptions())
  const [sdk, direct] = seen
  return { sdk, direct }
}

describe('an input that the AI SDK has parsed', () => {
  test.each<[string, ZodType, object, unknown]>([
    ['overwrite', z.number().overwrite((n) => n + 1), { field: 1 }, 2],
    [
      'check',
      z.number().check((context) => {
        context.value += 1
      }),
      { field: 1 },
      2,
    ],
    [
      'superRefine',
      z.array(z.number()).superRefine((list) => {
        list.push(9)
      }),
      { field: [1] },
      [1, 9],
    ],
    ['transform', z.number().transform((n) => n + 1), { field: 1 }, 2],
    ['a default that does not fit', z.number().min(5).default(0), {}, 0],
    ['a replacement that does not fit', z.number().min(5).catch(0), { field: 1 }, 0],
    [
      'a nested check',
      z.object({ a: z.array(z.string().overwrite((t) => `${t}!`)) }),
      { field: { a: ['x'] } },
      { a: ['x!'] },
    ],
    [
      'refine',
      z
        .number()
        .min(1)
        .refine((n) => n > 0),
      { field: 1 },
      1,
    ],
  ])('is not parsed again: %s', async (_what, field, input, value) => {
    const { sdk, direct } = await received(field, input)
    expect(sdk).toEqual({ field: value })
    expect(direct).toEqual({ field: value })
  })

  test('is described to the model as the schema says', async () => {
    const schema = z.object({ field: z.string().trim().default('a').describe('what') })
    const tool = defineTool({ name: 'tool', schema, execute: () => 1 })
    expect(await asSchema(tool.inputSchema).jsonSchema).toEqual(await asSchema(schema).jsonSchema)
  })
})
