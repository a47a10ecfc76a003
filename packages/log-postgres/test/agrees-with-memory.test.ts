import { isSmithersError } from '@smithers/tool-core/log'
import type { ApprovalRow, ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { methods, type Step, steps } from '../../log-sqlite/test/fixtures/random-steps.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const tables = 'begun_attempts tool_calls tool_approvals run_state runs tasks attempts loops'.split(
  ' ',
)

describeWithServer('createPostgresLog', () => {
  it('answers any sequence of calls as the log in memory does, and holds the same rows after it', async () => {
    const schema = newSchema()
    const postgres = await openLog(schema)
    const names = tables.map((name) => `${schema}._smithers_${name}`).join(', ')
    const property = fc.asyncProperty(steps, async (taken) => {
      await admin().query(`TRUNCATE ${names}`)
      const memory = createMemoryLog()
      for (const one of taken.map(atATimeOfItsOwn)) {
        expect(await answerOf(postgres, one)).toEqual(await answerOf(memory, one))
      }
      expect(sorted(await postgres.list({}))).toEqual(sorted(memory.snapshot()))
      expect(await postgres.approvals.list({})).toEqual(memory.approvals.list({}))
    })
    await fc.assert(property, { numRuns: 40 })
    await postgres.close()
  })
})

/** Which of two rows of one millisecond is newer is left to the adapter: PostgreSQL knows no order of insertion. */
function atATimeOfItsOwn(step: Step, index: number): Step {
  const [method, row, ...others] = step
  if (method !== 'start') return step
  const { startedAtMs } = row as ToolCallRow
  return [method, { ...(row as ToolCallRow), startedAtMs: startedAtMs * 1000 + index }, ...others]
}

/** What a step returns or how it fails; which of two conflicts is reported first is left to the adapter. */
async function answerOf(log: ToolCallLog, [method, ...given]: Step): Promise<unknown> {
  try {
    // Every question has an id of its own.
    if (method === 'ask') {
      const { id } = given[0] as ApprovalRow
      if (((await log.approvals?.list({ id })) ?? []).length > 0) return 'refused'
    }
    const result = await (methods[method](log) as (...values: unknown[]) => unknown)(...given)
    const refused = typeof result === 'object' && result !== null && 'ok' in result && !result.ok
    return refused ? 'refused' : result
  } catch (error) {
    if (isSmithersError(error) && error.code === 'INVALID_INPUT') return 'refused'
    throw error
  }
}

function sorted(rows: readonly ToolCallRow[]): ToolCallRow[] {
  return rows.toSorted((a, b) => (a.callToken < b.callToken ? -1 : 1))
}
