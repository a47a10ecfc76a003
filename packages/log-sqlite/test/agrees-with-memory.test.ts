import { createSqliteLog } from '@smithers/log-sqlite'
import type { StartRow, ToolCallLog, ToolCallQuery, ToolCallRow } from '@smithers/tool-core/log'
import { isSmithersError } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, succeeded } from './fixtures/call.ts'

const small = fc.integer({ min: 0, max: 3 })
const token = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
const text = fc.constantFrom('x', 'X', '', '\0', '\uD800', '\uDC00', 'π')
const timeMs = fc.integer({ min: 0, max: 5 })

const startedRow: fc.Arbitrary<StartRow> = fc
  .record({
    callToken: token,
    runId: text,
    nodeId: text,
    iteration: fc.constantFrom(0, 1),
    attempt: fc.constantFrom(1, 2),
    seq: small,
    toolName: text,
    idempotencyKey: fc.option(text),
    toolCallId: fc.option(text),
    startedAtMs: timeMs,
    leaseExpiresAtMs: fc.option(timeMs),
  })
  .map((fields) => call(fields))

const query: fc.Arbitrary<ToolCallQuery> = fc.record(
  {
    runId: text,
    nodeId: text,
    iteration: fc.constantFrom(0, 1),
    attempt: fc.constantFrom(1, 2),
    beforeAttempt: fc.constantFrom(1, 2, 3),
    toolName: text,
    status: fc.constantFrom('started', 'success', 'error'),
    idempotencyKey: text,
    toolCallId: text,
    startedFromMs: timeMs,
    startedBeforeMs: timeMs,
    limit: fc.constantFrom(-1, 0, 0.5, 1, 2, 5, Infinity),
    order: fc.constantFrom('ascending', 'descending'),
    after: fc.record({
      attempt: fc.constantFrom(1, 2),
      seq: small,
      startedAtMs: timeMs,
      callToken: token,
    }),
  },
  { requiredKeys: [] },
)

/** A method and what it is given. */
type Step = readonly [
  method: 'start' | 'finish' | 'renew' | 'list' | 'recover' | 'prune',
  ...unknown[],
]

function step<Given extends unknown[]>(
  weight: number,
  method: Step[0],
  ...given: { [Index in keyof Given]: fc.Arbitrary<Given[Index]> }
): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  return { weight, arbitrary: fc.tuple(fc.constant(method), ...given) as fc.Arbitrary<Step> }
}

const startOptions = fc.record({
  durability: fc.constantFrom('fsync', 'relaxed'),
  claim: fc.constantFrom(null, 'inflight', 'once'),
})
const finishPatch = fc.record({
  ...Object.fromEntries(
    Object.entries(succeeded).map(([name, value]) => [name, fc.constant(value)]),
  ),
  status: fc.constantFrom('success', 'error'),
  finishedAtMs: timeMs,
  fromCache: fc.boolean(),
})
const recoverQuery = fc.record(
  { runId: text, nodeId: text, beforeAttempt: fc.constantFrom(1, 2, 3), nowMs: timeMs },
  { requiredKeys: ['nowMs'] },
)
const pruneQuery = fc.record(
  { finishedBeforeMs: timeMs, keepRuns: small, maxRows: small },
  { requiredKeys: [] },
)

const steps = fc.array(
  fc.oneof(
    step(6, 'start', startedRow, startOptions),
    step(4, 'finish', token, finishPatch),
    step(1, 'renew', token, timeMs),
    step(3, 'list', query),
    step(1, 'recover', recoverQuery),
    step(1, 'prune', pruneQuery),
  ),
  { maxLength: 60, size: 'max' },
)

describe('createSqliteLog', () => {
  it('answers any sequence of calls as the log in memory does, and holds the same rows after it', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const memory = createMemoryLog()
        const sqlite = createSqliteLog({ path: ':memory:' })
        for (const one of taken) expect(answer(sqlite, one)).toEqual(answer(memory, one))
        expect(sorted(sqlite.list({}))).toEqual(sorted(memory.snapshot()))
        void sqlite.close()
      }),
      { numRuns: 300 },
    )
  })
})

/** What a step returns or how it fails; which of two conflicts is reported first is left to the adapter. */
function answer(log: ToolCallLog, [method, ...given]: Step): unknown {
  try {
    const result = (log[method] as (...values: unknown[]) => unknown)(...given)
    const refused = typeof result === 'object' && result !== null && 'ok' in result && !result.ok
    return refused ? 'refused' : result
  } catch (error) {
    if (isSmithersError(error) && error.code === 'INVALID_INPUT') return 'refused'
    throw error
  }
}

function sorted(rows: unknown): ToolCallRow[] {
  return (rows as ToolCallRow[]).toSorted((a, b) => (a.callToken < b.callToken ? -1 : 1))
}
