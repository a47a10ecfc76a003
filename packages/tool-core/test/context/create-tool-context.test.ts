import { inspect } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  createToolContext,
  createToolRun,
  defineTool,
  getToolContext,
  runWithToolContext,
  type ToolCallOptions,
  type ToolContextOptions,
  type ToolRun,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'

const who = defineTool({
  name: 'who',
  schema: z.object({}),
  execute: (_args, { runId, ephemeral, idempotencyKey }) => ({ runId, ephemeral, idempotencyKey }),
})
const options: ToolCallOptions = { toolCallId: 'c', messages: [] }

describe('createToolContext', () => {
  test('fills in the documented defaults and freezes the context', () => {
    const context = createToolContext({ runId: 'r' })
    expect(context).toMatchObject({
      runId: 'r',
      iteration: 0,
      attempt: 1,
      rootDir: process.cwd(),
      allowNetwork: false,
      maxOutputBytes: 200_000,
      timeoutMs: 60_000,
      isolation: 'auto',
      ephemeral: false,
    })
    expect(Object.isFrozen(context)).toBe(true)
    expect(createToolContext().runId).not.toBe(createToolContext().runId)
  })

  test.each([
    { maxOutputBytes: 0 },
    { maxOutputBytes: -1 },
    { maxOutputBytes: 10 * 1024 * 1024 + 1 },
    { maxOutputBytes: Number.NaN },
    { timeoutMs: 0 },
    { timeoutMs: 3_600_001 },
    { timeoutMs: Infinity },
    { attempt: 0 },
    { iteration: -1 },
    { iteration: 1.5 },
    { runId: '' },
    { nodeId: '' },
    { leaseMs: 0 },
    { maxInputBytes: -5 },
    { safety: 'careful' as never },
    { keyScope: 'run' as never },
    { lineage: 'new' as never },
    { allowNetwork: 'false' as never },
    { allowNetwork: 1 as never },
    { network: 'host' as never },
    { network: null as never },
    { isolation: 'required' as never },
    { log: {} as never },
    { errorStacks: 'false' as never },
    { previews: 'no' as never },
    { namespace: 5 as never },
    { keySecret: '' },
    { rootDir: '' },
    { onLogError: 'ignore' as never },
    { onApproval: true as never },
    { durabilitySnapshot: 'yes' as never },
    { abortSignal: {} as never },
    { redact: 'pin' as never },
    { protectedPaths: 'program.ts' as never },
    { maxInlineOutputBytes: 0 },
    { runId: null as never },
  ] as ToolContextOptions[])('refuses %o', (given) => {
    const [option, value] = Object.entries(given)[0] ?? []
    expect(() => createToolContext(given)).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(
          new RegExp(
            `^${option} must be .* got ${inspect(value).replaceAll(/[[\]{}.]/g, '\\$&')}\\.$`,
          ),
        ) as string,
      }),
    )
  })

  test.each([
    {},
    { allow: 'example.com' },
    { allow: [''] },
    { allow: [], deny: [1] },
    { allow: ['example.com'], denny: ['example.com'] },
    { allow: [], onDecision: 'allow' },
  ])('refuses the network %j', (network) => {
    expect(() => createToolContext({ network: network as never })).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(
          /^network must be \{ allow: \['example.com'\], deny: \[…\], onDecision: 'ask' or a function \}, got /,
        ) as string,
      }),
    )
  })

  test('refuses hosts beside an open network, which would reach all of them', () => {
    expect(() => createToolContext({ network: { allow: [] }, allowNetwork: true })).toThrow(
      'network must be left out with allowNetwork: true, which opens every host',
    )
  })

  test('copies the hosts, which nothing can change afterwards', () => {
    const network = { allow: ['example.com'], deny: ['evil.example.com'] }
    const context = createToolContext({ network })
    network.allow.push('evil.test')
    network.deny.pop()
    expect(context.network).toEqual({ allow: ['example.com'], deny: ['evil.example.com'] })
    const inContext = (context.network?.allow ?? []) as string[]
    expect(() => inContext.push('evil.test')).toThrow(/not extensible/)
    // A copy of a context is a new task with the same network.
    const copy = runWithToolContext({ ...context }, () => getToolContext())
    expect(copy?.network).toEqual(context.network)
  })

  test('refuses an unknown option, naming the known ones', () => {
    for (const create of [createToolContext, createToolRun]) {
      expect(() => create({ redcat: { keys: ['pin'] } } as never)).toThrow(
        expect.objectContaining({
          code: 'INVALID_INPUT',
          message: expect.stringMatching(/unknown option "redcat".* redact,/) as string,
        }),
      )
    }
  })

  test('accepts the limits themselves', () => {
    const context = createToolContext({ maxOutputBytes: 10 * 1024 * 1024, timeoutMs: 3_600_000 })
    expect(context.timeoutMs).toBe(3_600_000)
  })
})

describe('the context of a call', () => {
  test('is the bound one before that of the agent before the ambient one', async () => {
    const inAgent = { ...options, context: { smithers: runOf('agent').context } }
    const inOlderAgent = { ...options, experimental_context: { smithers: runOf('older') } }
    await runWithToolContext(runOf('ambient').context, async () => {
      const bound = runOf('bound').tools({ who }).who
      expect(await bound.execute({}, inAgent)).toMatchObject({ runId: 'bound' })
      expect(await who.execute({}, inAgent)).toMatchObject({ runId: 'agent' })
      expect(await who.execute({}, inOlderAgent)).toMatchObject({ runId: 'older' })
      expect(await who.execute({}, options)).toMatchObject({ runId: 'ambient', ephemeral: false })
      expect(await who.execute({}, { ...options, context: { tenant: 1 } })).toMatchObject({
        runId: 'ambient',
      })
    })
  })

  test('is ephemeral outside a run, with a key of its own', async () => {
    const [a, b] = [await who.execute({}, options), await who.execute({}, options)]
    expect(a).toMatchObject({ ephemeral: true })
    expect(a.runId).not.toBe(b.runId)
    expect(a.idempotencyKey).toHaveLength(36)
    expect(a.idempotencyKey).not.toBe(b.idempotencyKey)
  })

  test('is said once to be missing when a tool must not run twice', async () => {
    const warn = vi.fn<(message: string) => void>()
    const pay = defineTool({
      name: 'pay',
      schema: z.object({}),
      sideEffect: true,
      warn,
      execute: (_args, ctx) => ctx.ephemeral,
    })
    await createToolRun().tools({ pay }).pay.execute({}, options)
    expect(warn).not.toHaveBeenCalled()
    expect(await pay.execute({}, options)).toBe(true)
    await pay.execute({}, options)
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('outside a run'))
  })

  test('serves a call without any options', async () => {
    expect(await who.execute({}, undefined as never)).toMatchObject({ ephemeral: true })
  })

  test('reaches the tools that a tool calls, also when it was bound', async () => {
    const outer = defineTool({
      name: 'outer',
      schema: z.object({}),
      execute: async () => {
        await Promise.resolve()
        return who.execute({}, options)
      },
    })
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'bound', log })
    expect(await run.tools({ outer }).outer.execute({}, options)).toMatchObject({ runId: 'bound' })
    expect(log.snapshot().map(({ toolName, seq }) => [toolName, seq])).toEqual([
      ['outer', 1],
      ['who', 2],
    ])
  })
})

describe('runWithToolContext', () => {
  test('takes the options of a context too, and makes one context of them', async () => {
    const log = createMemoryLog()
    const given = { runId: 'r', log }
    await runWithToolContext(given, () => who.execute({}, options))
    await runWithToolContext(given, () => who.execute({}, options))
    expect(log.snapshot().map(({ seq }) => seq)).toEqual([1, 2])
  })

  test('shares its storage with other copies of the package', () => {
    const storage = Reflect.get(globalThis, Symbol.for('smithers.tool.context')) as {
      getStore(): unknown
    }
    const context = createToolContext({ runId: 'r' })
    expect(runWithToolContext(context, () => storage.getStore())).toBe(context)
    expect(getToolContext()).toBeUndefined()
  })
})

function runOf(runId: string): ToolRun {
  return createToolRun({ runId })
}

describe('the context of an attempt', () => {
  test('says what earlier attempts did', async () => {
    const log = createMemoryLog()
    const pay = defineTool({
      name: 'pay',
      schema: z.object({}),
      sideEffect: true,
      acceptsContext: true,
      execute: () => 'paid',
    })
    const warned = { runId: 'warned', log }
    const call = { toolCallId: 'c', messages: [] }
    await createToolRun(warned).tools({ pay }).pay.execute({}, call)
    expect(createToolContext({ runId: 'other', log, attempt: 2 }).retryWarning()).toBeNull()
    const context = createToolContext({ ...warned, attempt: 2 })
    expect(context.retryWarning()).toContain('- pay {} · ')
    expect(Object.keys(context)).not.toContain('retryWarning')
  })

  test.each(
    'runId nodeId iteration attempt rootDir protectedPaths log namespace safety lineage redact errorStacks leaseMs abortSignal onLogError onApproval previews logTimeoutMs maxInlineOutputBytes'.split(
      ' ',
    ),
  )('refuses null for %s', (name) => {
    expect(() => createToolContext({ [name]: null })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining(name) }),
    )
  })
})
