import { mcpTools } from '@smithers/tool-adapters'
import { createToolRun } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/log-memory'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listing } from '../fixtures/listed-tools.ts'

const options = { toolCallId: 'call_1', messages: [] }

async function toolWith(inputSchema: unknown) {
  const tools = await mcpTools(listing({ inputSchema }, { name: 'honest' }))
  const { tool, honest } = createToolRun({ runId: 'r', log: createMemoryLog() }).tools(tools)
  if (tool === undefined || honest === undefined) throw new Error('A tool is missing.')
  return { tool, honest }
}

function nested(levels: number): object {
  let schema: object = { type: 'string' }
  for (let level = 0; level < levels; level += 1) {
    schema = { type: 'object', properties: { a: schema } }
  }
  return schema
}

describe('a hostile schema of an MCP server', () => {
  it.each([1000, 100_000])(
    'that is nested %i levels deep is refused by name, and leaving the tool out saves the others',
    async (levels) => {
      const server = listing({ name: 'deep', inputSchema: nested(levels) }, { name: 'honest' })
      await expect(mcpTools(server)).rejects.toMatchObject({
        code: 'INVALID_TOOL',
        message: expect.stringContaining('"deep" declares a schema that is nested deeper'),
      })
      const others = await mcpTools(server, {
        configure: ({ name }) => (name === 'deep' ? null : undefined),
      })
      expect(Object.keys(others)).toEqual(['honest'])
    },
  )

  it.each([
    ['a definition that is itself', { $ref: '#/$defs/a' }, { a: { $ref: '#/$defs/a' } }],
    [
      'definitions that are each other',
      { $ref: '#/$defs/a' },
      { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
    ],
  ])('with %s fails its own calls alone', async (_what, x, $defs) => {
    const { tool, honest } = await toolWith({ type: 'object', properties: { x }, $defs })
    await expect(tool.execute({ x: 1 }, options)).rejects.toThrow(/./)
    expect(await honest.execute({}, options)).toMatchObject({ name: 'honest' })
  })

  it('that refers to itself where values end is a schema like any other', async () => {
    const tree = { type: 'object', properties: { child: { $ref: '#' } }, required: [] }
    const { tool } = await toolWith(tree)
    const value = { child: { child: {} } }
    expect(await tool.execute(value, options)).toMatchObject({ arguments: value })
    await expect(tool.execute({ child: { child: 1 } }, options)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  it('with properties named __proto__ and constructor changes no prototype', async () => {
    const schema: unknown = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"polluted":{"const":true}}},"constructor":{"type":"object"}},"$defs":{"__proto__":{"type":"string"}}}',
    )
    const { tool } = await toolWith(schema)
    const given: unknown = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    )
    await tool.execute(given, options)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(Object.prototype).not.toHaveProperty('polluted')
  })

  it('with a regular expression that runs forever is not run here', async () => {
    const { tool } = await toolWith({
      type: 'object',
      properties: { text: { type: 'string', pattern: '^(a+)+$' } },
      patternProperties: { '^(a+)+$': { type: 'string' } },
      propertyNames: { pattern: '^(a+)+$' },
    })
    // Checking it would take longer than the universe has been there.
    const given = { text: `${'a'.repeat(100)}!`, [`${'a'.repeat(100)}!`]: 'x' }
    expect(await tool.execute(given, options)).toMatchObject({ arguments: given })
  })

  it.each([
    ['what Zod cannot say', { not: { required: ['a'] }, if: {}, else: false }],
    ['references that lead nowhere', { allOf: [{ $ref: '#/nowhere' }] }],
    ['references to elsewhere', { properties: { a: { $ref: 'https://example.com/s.json' } } }],
    ['a list for a schema', { properties: [] }],
    ['a type of the future', { properties: { a: { type: 'matrix' } } }],
  ])('with %s takes objects, and the model sees it as it is', async (_what, part) => {
    const schema = { type: 'object', ...part }
    const { tool } = await toolWith(schema)
    expect(await tool.execute({ a: 1 }, options)).toMatchObject({ arguments: { a: 1 } })
    for (let times = 0; times < 2; times += 1) {
      expect(z.toJSONSchema(tool.inputSchema, { io: 'input' })).toMatchObject(schema)
    }
    await expect(tool.execute('text', options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it.each([null, undefined, true, 'text', []])('that is %j takes objects', async (schema) => {
    const { tool } = await toolWith(schema)
    expect(await tool.execute({ a: 1 }, options)).toMatchObject({ arguments: { a: 1 } })
    await expect(tool.execute([], options)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
