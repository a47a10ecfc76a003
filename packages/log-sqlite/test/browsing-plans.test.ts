import { createSqliteLog } from '@smithers/log-sqlite'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'

// `ids` is the list that a statement of its own makes, a step of an index each.
const wholeTable = /^SCAN (?!ids$|.* USING (?:COVERING )?INDEX|\(subquery|CONSTANT)/

it('asks for runs, counts and the end of a search by indexes alone, so that a large log costs no more', () => {
  const database = new Database(':memory:')
  const asked: string[] = []
  const watched = new Proxy(database, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (property === 'prepare') asked.push(String(args[0]))
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
  const log = createSqliteLog({ database: watched })
  asked.length = 0
  const addRuns = (from: number, to: number): void => {
    for (let run = from; run <= to; run += 1) {
      database
        .prepare(
          `INSERT INTO _smithers_tool_calls (run_id, node_id, attempt, seq, tool_name, started_at_ms, status)
           VALUES (?, 'n', 1, 1, 't', 1, 'success')`,
        )
        .run(`run-${run}`)
    }
  }
  addRuns(1, 3)
  void log.listRuns({ limit: 2 })
  addRuns(4, 1001)
  void log.listRuns({ limit: 2 })
  void log.listRuns({ runId: 'run-1' })
  void log.search({ texts: ['x'], examine: 2, order: 'descending' })
  const selects = asked.filter((sql) => /^(?:SELECT|WITH)/.test(sql))
  expect(selects.length).toBeGreaterThanOrEqual(8)
  for (const sql of selects) {
    const plan = database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...Array.from({ length: sql.split('?').length - 1 }, () => 1)) as { detail: string }[]
    for (const { detail } of plan) {
      // A scan without an index reads the whole table, and so does a sort of more than the last term.
      expect(detail, sql).not.toMatch(wholeTable)
      expect(detail, sql).not.toMatch(/TEMP B-TREE FOR ORDER BY/)
    }
  }
  const [careless] = database
    .prepare("EXPLAIN QUERY PLAN SELECT 1 FROM _smithers_tool_calls WHERE effect = 'none'")
    .all() as { detail: string }[]
  expect(careless?.detail).toMatch(wholeTable)
  database.close()
})
