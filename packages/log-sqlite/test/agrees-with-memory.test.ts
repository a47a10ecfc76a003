import { createSqliteLog } from '@smithers/log-sqlite'
import type { ApprovalRow, ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import { isSmithersError } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { methods, type Step, steps } from './fixtures/random-steps.ts'

describe('createSqliteLog', () => {
  it('answers any sequence of calls as the log in memory does, and holds the same rows after it', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const memory = createMemoryLog()
        const sqlite = createSqliteLog({ path: ':memory:' })
        for (const one of taken) expect(answerOf(sqlite, one)).toEqual(answerOf(memory, one))
        expect(sorted(sqlite.list({}))).toEqual(sorted(memory.snapshot()))
        expect(sqlite.approvals?.list({})).toEqual(memory.approvals.list({}))
        void sqlite.close()
      }),
      { numRuns: 300 },
    )
  })
})

/** What a step returns or how it fails; which of two conflicts is reported first is left to the adapter. */
function answerOf(log: ToolCallLog, [method, ...given]: Step): unknown {
  try {
    // Every question has an id of its own.
    if (method === 'ask' && idExists(log, given[0] as ApprovalRow)) return 'refused'
    const result = (methods[method](log) as (...values: unknown[]) => unknown)(...given)
    const refused = typeof result === 'object' && result !== null && 'ok' in result && !result.ok
    return refused ? 'refused' : result
  } catch (error) {
    if (isSmithersError(error) && error.code === 'INVALID_INPUT') return 'refused'
    throw error
  }
}

function idExists(log: ToolCallLog, { id }: ApprovalRow): boolean {
  const found = log.approvals?.list({ id }) as ApprovalRow[] | undefined
  return found !== undefined && found.length > 0
}

function sorted(rows: unknown): ToolCallRow[] {
  return (rows as ToolCallRow[]).toSorted((a, b) => (a.callToken < b.callToken ? -1 : 1))
}
