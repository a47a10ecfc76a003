import { createSqliteLog } from '@smithers/log-sqlite'
import type { ToolCallCursor, ToolCallQuery } from '@smithers/tool-core/log'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { listQuery } from '../src/list-query.ts'
import { call } from './fixtures/call.ts'

const after: ToolCallCursor = { attempt: 1, seq: 5, startedAtMs: 1_800_000_000_005, callToken: 't' }
const task = { runId: 'run', nodeId: 'node', iteration: 0 }

const queries: [string, ToolCallQuery, string][] = [
  ['all rows', {}, '_smithers_tool_calls_time'],
  ['all rows after a cursor', { after }, '_smithers_tool_calls_time'],
  ['a period', { startedFromMs: 1, startedBeforeMs: 2, after }, '_smithers_tool_calls_time'],
  ['a run', { runId: 'run' }, '_smithers_tool_calls_run_time'],
  ['a run after a cursor', { runId: 'run', after }, '_smithers_tool_calls_run_time'],
  [
    'a run backwards',
    { runId: 'run', after, order: 'descending' },
    '_smithers_tool_calls_run_time',
  ],
  ['a task', task, 'sqlite_autoindex__smithers_tool_calls_1'],
  ['a task after a cursor', { ...task, after }, 'sqlite_autoindex__smithers_tool_calls_1'],
  [
    'an attempt backwards',
    { ...task, attempt: 1, order: 'descending' },
    'sqlite_autoindex__smithers_tool_calls_1',
  ],
]

describe('listQuery', () => {
  it.each(queries)(
    'reads %s in the order of an index, without sorting or scanning',
    (_, query, index) => {
      for (const analyzed of [false, true]) {
        const database = filled()
        if (analyzed) database.exec('ANALYZE')
        const { sql, values } = listQuery(query)
        const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as {
          detail: string
        }[]
        const steps = plan.map(({ detail }) => detail)
        expect(steps).toHaveLength(1)
        expect(steps[0]).toContain(index)
        database.close()
      }
    },
  )

  it.each([
    ['a key', { idempotencyKey: 'key-7' }, '_smithers_tool_calls_key'],
    ['a token', { callToken: 'token-7' }, '_smithers_tool_calls_call_token'],
  ])('finds %s by its index', (_, query, index) => {
    const database = filled()
    const { sql, values } = listQuery(query)
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as {
      detail: string
    }[]
    expect(plan[0]?.detail).toContain(`SEARCH _smithers_tool_calls USING INDEX ${index}`)
    database.close()
  })
})

function filled(): Database.Database {
  const database = new Database(':memory:')
  const log = createSqliteLog({ database })
  for (let seq = 1; seq <= 300; seq += 1) {
    const row = call({
      runId: seq % 3 === 0 ? 'run' : `run-${seq % 7}`,
      seq,
      callToken: `token-${seq}`,
      idempotencyKey: `key-${seq}`,
      startedAtMs: 1_800_000_000_000 + seq,
    })
    void log.start(row, { durability: 'relaxed', claim: null })
  }
  return database
}
