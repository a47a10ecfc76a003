import { createToolRun, defineTool, type ToolRunOptions } from '@smithers/tool-core'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { deferred } from '../fixtures/deferred.ts'

type Lineage = NonNullable<ToolRunOptions['lineage']>

/** A provider that knows no keys, and the tool that charges there. */
function payments() {
  const charged: string[] = []
  const asked: string[] = []
  const charge = defineTool({
    name: 'charge',
    schema: z.object({ customer: z.string() }),
    sideEffect: true,
    onRetry: 'reuse',
    verify: (_args, { idempotencyKey }) => {
      asked.push(idempotencyKey ?? '')
      return { happened: false }
    },
    execute: async (_args, { idempotencyKey }) => {
      charged.push(idempotencyKey)
      return `charge ${charged.length}`
    },
  })
  return { charge, charged, asked }
}

const ann = { customer: 'ann' }

/** How an earlier worker left a call, and the id that the call had. */
type Left = readonly [
  id: string,
  end: 'success' | 'failed' | 'waiting' | 'thrown' | 'recovered' | 'dead' | 'running',
]

/** The log of a worker that made equal calls, each at the occurrence after the last, and left them as told. */
async function logOf(calls: readonly Left[]): Promise<{ log: MemoryLog; keys: string[] }> {
  const made = createMemoryLog()
  const donor = createToolRun({ runId: 'r', log: made, lineage: 'journaled' })
  const { charge } = donor.tools({ charge: payments().charge })
  for (const [id] of calls) await charge.execute(ann, { toolCallId: id, messages: [] })
  const log = createMemoryLog()
  const keys: string[] = []
  for (const [index, row] of made.snapshot().entries()) {
    const end = calls[index]?.[1] ?? 'success'
    const host = /^.*(?=:\d+:\d+$)/.exec(row.ownerId ?? '')?.[0]
    const ownerId = end === 'running' ? row.ownerId : `${host}:4194304:1`
    keys.push(row.idempotencyKey ?? '')
    const leaseExpiresAtMs = Date.now() + 60_000
    const started = { ...row, ownerId, leaseExpiresAtMs }
    expect(log.start(started, { durability: 'relaxed', claim: 'inflight' })).toEqual({ ok: true })
    const ended = { finishedAtMs: Date.now(), outputJson: null, errorJson: null }
    const thrown = { name: 'Error', message: 'The connection broke.' }
    if (end === 'success') {
      const { outputJson } = row
      const whole = { outputJson, outputExact: true, effect: 'applied' } as const
      log.finish(row.callToken, { ...ended, ...whole, status: 'success' })
    } else if (end === 'failed' || end === 'thrown' || end === 'waiting') {
      const effect = end === 'thrown' ? 'unknown' : 'none'
      const code = end === 'waiting' ? 'TOOL_APPROVAL_REQUIRED' : undefined
      const errorJson = JSON.stringify({ ...thrown, code })
      log.finish(row.callToken, { ...ended, status: 'error', effect, errorJson })
    }
    if (end === 'recovered') log.recover({ nowMs: Date.now() })
  }
  return { log, keys }
}

describe('a call of an engine that replays the answers of the model', () => {
  // The occurrence that the call with the id "asked" gets, and whether it charges.
  test.each<[what: string, left: Left[], occurrence: number, charges: boolean, verifies: boolean]>([
    ['that succeeded under its id returns its output', [['asked', 'success']], 0, false, false],
    ['that failed under its id runs with its key', [['asked', 'failed']], 0, true, false],
    ['whose worker died is verified under its key', [['asked', 'dead']], 0, true, true],
    ['that recovery has marked is verified, too', [['asked', 'recovered']], 0, true, true],
    ['comes after an equal one that succeeded', [['1', 'success']], 1, true, false],
    ['comes after an equal one whose worker died', [['1', 'dead']], 1, true, false],
    ['comes after an equal one that recovery has marked', [['1', 'recovered']], 1, true, false],
    ['comes after an equal one that runs', [['1', 'running']], 1, true, false],
    ['comes after an equal one that waits for approval', [['1', 'waiting']], 1, true, false],
    [
      'that waited for approval under its id runs with its key',
      [['asked', 'waiting']],
      0,
      true,
      false,
    ],
    ['repeats the key of an equal one that failed', [['1', 'failed']], 0, true, false],
    ['verifies an equal one of whose error the model was told', [['1', 'thrown']], 0, true, true],
    [
      'is found among equal ones',
      [
        ['1', 'success'],
        ['asked', 'dead'],
        ['3', 'success'],
      ],
      1,
      true,
      true,
    ],
  ])('%s', async (_what, left, occurrence, charges, verifies) => {
    const { log } = await logOf(left)
    const fresh = await logOf(Array.from({ length: 4 }, (_, n) => [`${n}`, 'success'] as const))
    const { charge, charged, asked } = payments()
    const run = createToolRun({ runId: 'r', log, lineage: 'journaled' })
    await run.tools({ charge }).charge.execute(ann, { toolCallId: 'asked', messages: [] })
    const key = fresh.keys[occurrence]
    expect(charged).toEqual(charges ? [key] : [])
    expect(asked).toEqual(verifies ? [key] : [])
    expect(log.snapshot().at(-1)).toMatchObject({ occurrence, toolCallId: 'asked' })
  })

  /** Makes the calls that an engine asks for after a kill: those whose answers it did not keep. */
  async function chargesAfter(lineage: Lineage, left: readonly Left[], asked: readonly string[]) {
    const { log } = await logOf(left)
    const { charge, charged } = payments()
    const run = createToolRun({ runId: 'r', log, lineage })
    for (const id of asked) {
      await run.tools({ charge }).charge.execute(ann, { toolCallId: id, messages: [] })
    }
    return left.filter(([, end]) => end === 'success').length + charged.length
  }

  test('is made once each, where the other lineages lose one or make one more', async () => {
    // The engine has the answer of the first. The second was killed between both records; the third had not begun.
    const killed = [
      ['1', 'success'],
      ['2', 'success'],
    ] as const
    const asked = ['2', '3']
    expect(await chargesAfter('journaled', killed, asked)).toBe(3)
    expect(await chargesAfter('auto', killed, asked)).toBe(2)
    expect(await chargesAfter('continued', killed, asked)).toBe(4)
  })

  test('keeps its key when the model repeats it after an error', async () => {
    const { log, keys } = await logOf([
      ['1', 'recovered'],
      ['1', 'failed'],
    ])
    const { charge, charged, asked } = payments()
    const run = createToolRun({ runId: 'r', log, lineage: 'journaled' })
    await run.tools({ charge }).charge.execute(ann, { toolCallId: '2', messages: [] })
    expect(new Set([...charged, ...asked])).toEqual(new Set([keys[0]]))
  })

  test('is not answered by an equal one that a worker beside it made since', async () => {
    const log = createMemoryLog()
    const reached = deferred()
    const first = deferred()
    const charged: string[] = []
    const charge = defineTool({
      name: 'charge',
      schema: z.object({ customer: z.string() }),
      sideEffect: true,
      onRetry: 'reuse',
      execute: async (_args, { idempotencyKey, toolCallId }) => {
        charged.push(idempotencyKey)
        if (toolCallId === '1') {
          reached.resolve()
          await first.promise
        }
        return `${toolCallId} charged`
      },
    })
    const [a, b] = [1, 2].map(
      () => createToolRun({ runId: 'r', log, lineage: 'journaled' }).tools({ charge }).charge,
    )
    const call = (worker: typeof a, toolCallId: string): Promise<string> | undefined =>
      worker?.execute(ann, { toolCallId, messages: [] })
    const running = call(a, '1')
    await reached.promise
    const waiting = call(b, '1')
    first.resolve()
    expect(await Promise.all([running, waiting])).toEqual(['1 charged', '1 charged'])
    // The engine answers the second call of the worker beside from what it has kept, so that worker never makes it.
    expect(await call(a, '2')).toBe('2 charged')
    expect(await call(b, '3')).toBe('3 charged')
    expect(await call(a, '3')).toBe('3 charged')
    expect(new Set(charged).size).toBe(3)
    expect(charged).toHaveLength(3)
  })
})
