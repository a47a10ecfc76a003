import { tracingChannel } from 'node:diagnostics_channel'
import {
  type CallConnections,
  createToolRun,
  defineTool,
  type EndedConnection,
  recordNetworkUse,
  type RedactionOptions,
  type ToolCallEvent,
  type ToolContext,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

function connection(fields: Partial<EndedConnection> = {}): EndedConnection {
  return {
    atMs: 5,
    host: 'good.test',
    port: 443,
    protocol: 'connect',
    allowed: true,
    rule: 'good.test',
    addresses: ['192.0.2.1'],
    bytesSent: 10,
    bytesReceived: 20,
    ...fields,
  }
}

const refused = (host: string): EndedConnection => ({
  ...connection({ host, allowed: false, reason: 'not-allowed', addresses: [] }),
  bytesSent: 0,
  bytesReceived: 0,
})

/** Runs one call and returns its row. */
async function rowOf(execute: (ctx: ToolContext) => unknown, redact?: RedactionOptions) {
  const log = createMemoryLog()
  const run = createToolRun({ runId: 'r', log, redact })
  const tool = defineTool({
    name: 'fetcher',
    schema: z.object({}),
    sideEffect: true,
    execute: (_args, ctx) => execute(ctx),
  })
  await run
    .tools({ tool })
    .tool.execute({}, { toolCallId: 'c', messages: [] })
    .catch(() => {})
  const [row] = log.list({ runId: 'r' })
  return row
}

const parsed = (json: string | undefined): CallConnections => JSON.parse(json ?? '') as never

describe('the connections of a call', () => {
  test('are in its row, equal ones as one entry', async () => {
    const row = await rowOf((ctx) => {
      recordNetworkUse(ctx, { decisions: [connection(), refused('evil.test')], omitted: 2 })
      recordNetworkUse(ctx, { decisions: [connection({ atMs: 9 })], omitted: 1 })
    })
    expect(parsed(row?.networkJson)).toEqual({
      connections: [
        { ...connection(), count: 2, bytesSent: 20, bytesReceived: 40 },
        { ...refused('evil.test'), count: 1 },
      ],
      omitted: 3,
    })
  })

  test('are in the row of a call that fails, and in its event', async () => {
    const seen: ToolCallEvent[] = []
    const note = (event: unknown): void => void seen.push(event as ToolCallEvent)
    const channel = tracingChannel('smithers:tool-call')
    channel.asyncEnd.subscribe(note)
    onTestFinished(() => channel.asyncEnd.unsubscribe(note))
    const row = await rowOf((ctx) => {
      recordNetworkUse({ ...ctx }, { decisions: [refused('evil.test')], omitted: 0 })
      throw new Error('no answer')
    })
    expect(row?.status).toBe('error')
    expect(parsed(row?.networkJson).connections).toMatchObject([{ host: 'evil.test' }])
    expect(seen.map(({ networkJson }) => networkJson)).toEqual([row?.networkJson])
  })

  test('are absent for a call that reports none', async () => {
    expect(await rowOf(() => 'ok')).not.toHaveProperty('networkJson')
    expect(() => recordNetworkUse({} as ToolContext, { decisions: [], omitted: 0 })).not.toThrow()
  })

  test('are at most 50, and a flood of allowed hosts hides no refusal', async () => {
    const flood = Array.from({ length: 300 }, (_, index) => connection({ host: `h${index}.test` }))
    const row = await rowOf((ctx) =>
      recordNetworkUse(ctx, { decisions: [...flood, refused('evil.test')], omitted: 0 }),
    )
    const { connections, omitted } = parsed(row?.networkJson)
    expect(connections).toHaveLength(26)
    expect(connections.at(-1)).toMatchObject({ host: 'evil.test', allowed: false })
    expect(omitted).toBe(275)
  })

  test('take at most 16 KiB, and say how many are left out', async () => {
    const long = Array.from({ length: 50 }, (_, index) => refused(`${index}-${'x'.repeat(9_000)}`))
    const row = await rowOf((ctx) => recordNetworkUse(ctx, { decisions: long, omitted: 0 }))
    expect(Buffer.byteLength(row?.networkJson ?? '')).toBeLessThanOrEqual(16 * 1024)
    const { connections, omitted } = parsed(row?.networkJson)
    expect(connections.length).toBeGreaterThan(10)
    expect(connections.length + omitted).toBe(50)
  })

  test('are redacted: a host may carry a secret', async () => {
    const row = await rowOf(
      (ctx) => recordNetworkUse(ctx, { decisions: [refused('hunter2.evil.test')], omitted: 0 }),
      { values: ['hunter2'] },
    )
    expect(row?.networkJson).not.toContain('hunter2')
    expect(row?.networkJson).toContain('.evil.test')
  })
})
