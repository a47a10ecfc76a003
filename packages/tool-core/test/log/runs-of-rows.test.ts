import {
  type LoggedRun,
  type LoggedRunCursor,
  type RunRow,
  runsOfRows,
  type ToolCallRow,
} from '@smithers/tool-core/log'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

/** A call of a run: an error has a code. */
function call(runId: string, startedAtMs: number, code?: string): ToolCallRow {
  const failed = code !== undefined
  return {
    runId,
    startedAtMs,
    status: failed ? 'error' : 'success',
    errorJson: failed ? JSON.stringify({ code, message: 'x'.repeat(200) }) : null,
    effect: code === 'TOOL_OUTCOME_UNKNOWN' ? 'unknown' : 'none',
    finishedAtMs: startedAtMs + 1,
  } as ToolCallRow
}

function grouped(rows: readonly ToolCallRow[]): Map<string, Set<ToolCallRow>> {
  const byRun = new Map<string, Set<ToolCallRow>>()
  for (const row of rows) byRun.set(row.runId, new Set([...(byRun.get(row.runId) ?? []), row]))
  return byRun
}

describe('runsOfRows', () => {
  test('joins the record of a run with what became of its calls', () => {
    const rows = [
      call('a', 30),
      call('a', 10, 'TOOL_FAILED'),
      call('a', 20, 'TOOL_OUTCOME_UNKNOWN'),
    ]
    const recorded = { runId: 'b', workflow: 'bills', status: 'waiting', startedAtMs: 25 } as RunRow
    const [first, second, ...others] = runsOfRows(grouped(rows), [recorded], {})
    expect(first).toMatchObject({
      runId: 'a',
      workflow: null,
      status: null,
      startedAtMs: 10,
      lastCallAtMs: 30,
      calls: 3,
      unknown: 1,
      failed: 1,
      errors: [{ code: 'TOOL_FAILED', effect: 'none', count: 1 }],
    })
    expect(second).toMatchObject({ runId: 'b', workflow: 'bills', lastCallAtMs: null, calls: 0 })
    expect(others).toEqual([])
    expect(runsOfRows(grouped(rows), [recorded], { runId: 'b' })).toEqual([second])
    expect(runsOfRows(grouped(rows), [recorded], { runId: 'c' })).toEqual([])
  })

  test('gives each run once, newest first, whatever the pages and the order of the rows', () => {
    const anyRows = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(9)))
    fc.assert(
      fc.property(anyRows, fc.integer({ min: 1, max: 3 }), (given, limit) => {
        const rows = given.map(([runId, startedAtMs]) => call(runId, startedAtMs))
        const byRun = grouped(rows)
        const whole = runsOfRows(byRun, [], {})
        expect(new Set(whole.map(({ runId }) => runId))).toEqual(new Set(byRun.keys()))
        const activity = whole.map(({ activityMs }) => activityMs)
        expect(activity).toEqual(activity.toSorted((a, b) => b - a))
        expect(runsOfRows(grouped(rows.toReversed()), [], {})).toEqual(whole)
        const paged: LoggedRun[] = []
        for (let after: LoggedRunCursor | undefined; ; after = paged.at(-1)) {
          const page = runsOfRows(byRun, [], { limit, ...(after !== undefined && { after }) })
          if (page.length === 0) break
          paged.push(...page)
        }
        expect(paged).toEqual(whole)
      }),
    )
  })
})
