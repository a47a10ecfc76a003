import { createSqliteLog } from '@smithers/log-sqlite'
import type { LoggedRunCursor } from '@smithers/tool-core/log'
import { expect, it } from 'vitest'
import { call } from './fixtures/call.ts'

it.each([
  { what: 'few runs of many calls', runs: 3, calls: 400 },
  { what: 'as many runs as are asked one by one', runs: 1000, calls: 1 },
  { what: 'one run more', runs: 1001, calls: 1 },
])('lists each run once, the newest first, of a log of $what', async ({ runs, calls }) => {
  const log = createSqliteLog({ path: ':memory:' })
  // Runs take turns, two begin at once, and one id has what SQLite's own texts cannot hold.
  const ids = Array.from({ length: runs }, (_, run) => (run === 1 ? 'run\0\ud800' : `run-${run}`))
  for (let seq = 1; seq <= calls; seq += 1) {
    for (const [run, runId] of ids.entries()) {
      const startedAtMs = 1000 * seq + Math.floor(run / 2)
      log.start(call({ runId, seq, startedAtMs }), { durability: 'relaxed', claim: null })
    }
  }
  const activityOf = (run: number): number => 1000 * calls + Math.floor(run / 2)
  const expected = ids
    .map((runId, run) => ({ runId, activityMs: activityOf(run) }))
    .toSorted((a, b) => b.activityMs - a.activityMs || (a.runId < b.runId ? 1 : -1))

  const listed: LoggedRunCursor[] = []
  const limit = Math.ceil(runs / 4)
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- a page begins where the one before ended
    const after = listed.at(-1)
    const page = await log.listRuns({ limit, ...(after !== undefined && { after }) })
    listed.push(...page.map(({ runId, activityMs }) => ({ runId, activityMs })))
    if (page.length < limit) break
  }
  expect(listed).toEqual(expected)
  await log.close()
})
