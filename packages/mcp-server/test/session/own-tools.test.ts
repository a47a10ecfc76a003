import { createMcpServer } from '@smithers/mcp-server'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { defineTool } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startHttp } from '../fixtures/http-server.ts'
import { connectNew, connectOld, lines, textOf } from '../fixtures/mcp-clients.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

const charged: string[] = []
const charge = defineTool({
  name: 'billing.charge',
  title: 'Charge a customer',
  description: 'Charges an amount.',
  schema: z.object({ customer: z.string(), amount: z.number() }),
  outputSchema: z.object({ charged: z.number(), key: z.string() }),
  sideEffect: true,
  execute: ({ amount }, ctx) => {
    charged.push(ctx.idempotencyKey)
    return { charged: amount, key: ctx.idempotencyKey }
  },
})

const picture = defineTool({
  name: 'picture',
  schema: z.object({}),
  acceptsContext: true,
  execute: () => 'aGVsbG8=',
  toModelOutput: ({ output }) => ({
    type: 'content',
    value: [
      { type: 'text', text: 'a picture:' },
      { type: 'image-data', data: output, mediaType: 'image/png' },
    ],
  }),
})

const steps = defineTool({
  name: 'steps',
  schema: z.object({ fail: z.boolean().optional() }),
  acceptsContext: true,
  execute: async function* ({ fail }) {
    yield 'first'
    if (fail === true) throw new Error('the second step failed')
    yield 'first and second'
  },
})

describe.each(lines)('tools of your own with %s', (_line, connect) => {
  it('are served beside the built-in ones, with structure, images and streams', async () => {
    const { root } = createWorkspace({ 'a.txt': 'alpha\n' })
    const tools = {
      ...createBuiltinTools({ rootDir: root, only: ['read'] }),
      charge,
      picture,
      steps,
    }
    const { address, rows } = await startHttp({ rootDir: root, tools })
    const client = await connect(address)
    const listed = await client.list()
    expect(listed.map(({ name }) => name)).toEqual(['billing_charge', 'picture', 'read', 'steps'])
    expect(listed[0]).toMatchObject({
      title: 'Charge a customer',
      inputSchema: { required: ['customer', 'amount'] },
      outputSchema: { type: 'object', required: ['charged', 'key'] },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    })

    const args = { customer: 'ada', amount: 7 }
    const [first, second] = [
      await client.call('billing_charge', args),
      await client.call('billing_charge', args),
    ]
    expect(first.structuredContent).toEqual({ charged: 7, key: charged.at(-2) })
    expect(JSON.parse(textOf(first))).toEqual(first.structuredContent)
    // Two equal calls are two calls, each with a key of its own.
    expect(second.structuredContent).not.toEqual(first.structuredContent)

    expect((await client.call('picture')).content).toMatchObject([
      { type: 'text', text: 'a picture:' },
      { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
    ])
    expect(textOf(await client.call('steps'))).toBe('first and second')
    expect(textOf(await client.call('steps', { fail: true }))).toContain('the second step failed')
    expect(textOf(await client.call('read', { path: 'a.txt' }))).toBe('alpha\n')
    expect(await rows()).toHaveLength(6)
    await client.close()
  })
})

describe('a tool that cannot be served', () => {
  const { root } = { root: import.meta.dirname }
  const named = (name: string, schema: z.ZodType = z.object({})) =>
    defineTool({ name, schema, acceptsContext: true, execute: () => 'x' })

  it('is refused at once, with a reason', () => {
    const serve = (tools: Record<string, ReturnType<typeof named>>) => () =>
      createMcpServer({ rootDir: root, tools })
    expect(serve({ a: named('a', z.string()) })).toThrow(/its schema is not an object/)
    expect(serve({ a: named('a.b'), b: named('a_b') })).toThrow(/would both be called/)
    expect(() => createMcpServer({ rootDir: root, tools: { a: named('a') }, deny: ['x'] })).toThrow(
      /files: \{ deny \}/,
    )
    expect(() => createMcpServer({ rootDir: root, readOnyl: true } as never)).toThrow(/readOnyl/)
  })
})

it('resources can be left out', async () => {
  const { root } = createWorkspace()
  const { address } = await startHttp({ rootDir: root, resources: false })
  const client = await connectNew(address)
  await expect(client.readResource('smithers-log://runs/current')).rejects.toThrow(
    /Method not found/,
  )
  await client.close()
})

it('denied files are out of reach of the built-in tools', async () => {
  const { root } = createWorkspace({ '.env': 'KEY=hidden\n', 'a.txt': 'alpha\n' })
  const { address } = await startHttp({ rootDir: root, deny: ['.env*'] })
  const client = await connectOld(address)
  for (const [name, args] of [
    ['read', { path: '.env' }],
    ['grep', { pattern: 'hidden' }],
  ] as const) {
    expect(textOf(await client.call(name, args))).not.toContain('KEY=hidden')
  }
  expect(textOf(await client.call('read', { path: 'a.txt' }))).toBe('alpha\n')
  await client.close()
})
