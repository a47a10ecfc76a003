import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createToolContext,
  createToolRun,
  defineTool,
  getToolContext,
  pendingApprovals,
  resolveToolApproval,
  runWithToolContext,
  toolset,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { aiSdkMajors } from './fixtures/ai-sdk-majors.ts'
import type { Turn } from './fixtures/scripted-model.ts'

const order = defineTool({
  name: 'shop.order',
  schema: z.object({ sku: z.string(), at: z.string().transform((text) => new Date(text)) }),
  sideEffect: true,
  execute: async ({ sku, at }, ctx) => ({
    sku,
    year: at.getUTCFullYear(),
    seq: ctx.seq,
    messages: ctx.messages.map(({ role }) => role),
    ambient: getToolContext()?.runId,
  }),
})
const progress = defineTool({
  name: 'progress',
  schema: z.object({ to: z.number() }),
  async *execute({ to }) {
    for (let n = 1; n <= to; n += 1) yield n
  },
})
const refuse = defineTool({
  name: 'refuse',
  schema: z.object({}),
  execute: async () => {
    throw new Error('out of stock')
  },
})

const at = '2026-01-01T00:00:00Z'
const turns: Turn[] = [
  [
    { id: 'c1', tool: 'shop_order', input: { sku: 'a', at } },
    { id: 'c2', tool: 'shop_order', input: { sku: 'b', at } },
  ],
  [
    { id: 'c3', tool: 'progress', input: { to: 3 } },
    { id: 'c4', tool: 'refuse', input: {} },
  ],
]

function carefulShop() {
  const placed: unknown[] = []
  const careful = defineTool({
    name: 'place',
    schema: z.object({ sku: z.string(), amount: z.number() }),
    sideEffect: true,
    idempotent: false,
    acceptsContext: true,
    needsApproval: true,
    execute: async (args) => {
      placed.push(args)
      return `placed ${args.amount}`
    },
  })
  return { careful, placed }
}

const approvalTurns: Turn[] = [
  [
    { id: 'c1', tool: 'place', input: { sku: 'lamp', amount: 1 } },
    { id: 'c2', tool: 'progress', input: { to: 2 } },
  ],
]

describe.each(aiSdkMajors)('the tools in AI SDK $major', ({ generate, stream, approve }) => {
  test('run, stream and fail in generateText, each with one row', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'run', log })
    const result = await generate(run.tools(toolset([order, progress, refuse])), turns)
    expect(result.outputs).toEqual([ordered('a', 1), ordered('b', 2), 3])
    expect(result.errors).toEqual(['Error: out of stock'])
    expect(
      log.snapshot().map(({ toolName, toolCallId, status }) => [toolName, toolCallId, status]),
    ).toEqual([
      ['shop.order', 'c1', 'success'],
      ['shop.order', 'c2', 'success'],
      ['progress', 'c3', 'success'],
      ['refuse', 'c4', 'error'],
    ])
  })

  test('show their preliminary values in streamText', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'run', log })
    const result = await stream(run.tools(toolset([order, progress, refuse])), turns)
    expect(result.outputs.filter((output) => typeof output === 'number')).toEqual([1, 2, 3, 3])
    expect(result.errors).toEqual(['Error: out of stock'])
    expect(log.snapshot()).toHaveLength(4)
  })

  test.each([
    ['generateText', generate],
    ['streamText', stream],
  ])('wait for approval in %s, and run once in the next attempt', async (_name, drive) => {
    const { careful, placed } = carefulShop()
    const log = createMemoryLog()
    const first = createToolRun({ runId: 'run', log })
    const asked = await drive(first.tools({ place: careful, progress }), approvalTurns)
    expect(asked.outputs.at(-1)).toBe(2)
    expect(asked.errors).toEqual([expect.stringContaining('waits for approval')])
    await expect(first.settle()).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
    expect(placed).toEqual([])
    const [approval] = await pendingApprovals({ log })
    const approvedArgs = { sku: 'lamp', amount: 2 }
    await resolveToolApproval({ log, id: approval?.id ?? '', approved: true, approvedArgs })
    const second = createToolRun({ runId: 'run', attempt: 2, log })
    const { outputs, errors } = await drive(
      second.tools({ place: careful, progress }),
      approvalTurns,
    )
    expect(outputs).toContain('placed 2')
    expect(errors).toEqual([])
    expect(await second.settle('done')).toBe('done')
    expect(placed).toEqual([approvedArgs])
  })

  test.runIf(approve)('run without another question once the SDK has asked its user', async () => {
    const { careful, placed } = carefulShop()
    const log = createMemoryLog()
    const [one, two] = [1, 2].map((attempt) => createToolRun({ runId: 'run', attempt, log }))
    const tools = [one, two].map((run) => run?.tools({ place: careful }) ?? {})
    const calls = approvalTurns[0] as Exclude<Turn, string>
    const results = await approve?.(tools[0] ?? {}, tools[1] ?? {}, calls.slice(0, 1))
    expect(results).toEqual(['placed 1'])
    expect(placed).toEqual([{ sku: 'lamp', amount: 1 }])
    expect(await log.approvals.list({})).toMatchObject([
      { status: 'used', decidedBy: expect.stringMatching(/^ai-sdk:/) },
    ])
    expect(two?.fatal).toBeUndefined()
  })

  test('find an ambient context, wherever the stream is consumed', async () => {
    const log = createMemoryLog()
    const context = createToolContext({ runId: 'run', log })
    const pending = runWithToolContext(context, () => stream(toolset([order]), turns.slice(0, 1)))
    const { outputs } = await runWithToolContext({ runId: 'another' }, () => pending)
    expect(outputs).toEqual([ordered('a', 1), ordered('b', 2)])
    expect(log.snapshot()).toHaveLength(2)
  })
})

function ordered(sku: string, seq: number): object {
  return { sku, year: 2026, seq, messages: ['user'], ambient: 'run' }
}
