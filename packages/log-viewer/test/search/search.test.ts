import { createMemoryLog, type MemoryLog } from '@smithers/log-memory'
import { createSqliteLog } from '@smithers/log-sqlite'
import { describe, expect, it } from 'vitest'
import type { SearchResponse } from '../../src/api/search.ts'
import { parseQuery } from '../../src/search/parse-query.ts'
import { addCall, errorJson, sampleMs } from '../fixtures/sample-log.ts'
import { ask, served } from '../fixtures/served.ts'

function searchedLog(): MemoryLog {
  const log = createMemoryLog()
  addCall(
    log,
    {
      seq: 1,
      toolName: 'read',
      nodeId: 'plan',
      sideEffect: false,
      inputJson: '{"path":"a.ts"}',
      traceId: 'ab'.repeat(16),
    },
    { effect: 'none', outputJson: '"the Needle \\"quoted\\""' },
  )
  addCall(log, { seq: 2, inputJson: '{"note":"needle"}' }, { finishedAtMs: sampleMs + 9000 })
  addCall(
    log,
    { seq: 3 },
    { status: 'error', effect: 'unknown', errorJson: errorJson('TOOL_OUTCOME_UNKNOWN') },
  )
  addCall(
    log,
    { seq: 4 },
    {
      status: 'error',
      effect: 'none',
      errorJson: errorJson('TOOL_CALL_BLOCKED', 'Needle in an error'),
    },
  )
  addCall(log, { seq: 5, runId: 'run-2', toolName: 'refund' }, null)
  return log
}

const found: readonly (readonly [query: string, seqs: readonly number[]])[] = [
  ['', [5, 4, 3, 2, 1]],
  ['needle', [4, 2, 1]],
  ['NEEDLE error', [4]],
  ['"the needle" quoted', [1]],
  ['"needle the"', []],
  ['tool:charge', [4, 3, 2]],
  ['tool:charge tool:refund', [5, 4, 3, 2]],
  ['-tool:charge', [5, 1]],
  ['needle -error', [2, 1]],
  ['is:unknown', [3]],
  ['is:refused', [4]],
  ['is:running', [5]],
  ['is:OK', [2, 1]],
  ['effect:applied', [2]],
  ['task:plan', [1]],
  ['run:run-2', [5]],
  ['code:tool_call_blocked', [4]],
  [`trace:${'ab'.repeat(16)}`, [1]],
  ['key:key-2', [2]],
  ['slower:2s is:ok', [2]],
  ['after:1d', [5, 4, 3, 2, 1]],
  ['before:1d', []],
  ['after:2020-01-31 tool:read', [1]],
  ['after:2199-01-31', []],
  ['tool:charge needle is:ok', [2]],
]

describe('a search', () => {
  it.each(found)('for %j finds its calls in every log', async (query, seqs) => {
    const log = searchedLog()
    const sqlite = createSqliteLog({ path: ':memory:' })
    for (const row of log.snapshot()) {
      await sqlite.start(row, { durability: 'relaxed', claim: null })
      const { status, finishedAtMs } = row
      if (status !== 'started')
        await sqlite.finish(row.callToken, {
          ...row,
          status,
          effect: row.effect ?? 'none',
          finishedAtMs: finishedAtMs ?? 0,
        })
    }
    const { search, ...withoutSearch } = log
    void search
    for (const shown of [log, sqlite, withoutSearch]) {
      const viewer = await served({ log: shown })
      const answer = await ask<SearchResponse>(viewer, `/api/search?q=${encodeURIComponent(query)}`)
      expect(answer.calls.map(({ seq }) => seq)).toEqual(seqs)
      expect(answer.problems).toEqual([])
    }
    await sqlite.close()
  })

  it('of one run finds the calls of that run alone, in pages that hold each once', async () => {
    const log = createMemoryLog()
    for (let seq = 1; seq <= 9; seq += 1)
      addCall(log, { seq, runId: seq % 2 === 0 ? 'even' : 'odd' })
    const viewer = await served({ log })
    const seqs: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: SearchResponse = await ask(
        viewer,
        `/api/search?q=charge&runId=odd&limit=2${cursor && `&cursor=${cursor}`}`,
      )
      seqs.push(...page.calls.map(({ seq }) => seq))
      cursor = page.nextCursor
    }
    expect(seqs).toEqual([9, 7, 5, 3, 1])
  })
})

describe('a query', () => {
  it.each([
    ['is:nonsense', /is: takes ok, failed/],
    ['slower:fast', /slower: takes a duration/],
    ['after:yesterday', /after: takes a date/],
    ['effect:much', /effect: takes none/],
  ])('%s is explained and does not narrow the search', (query, problem) => {
    const { terms, problems } = parseQuery(query)
    expect(terms).toEqual([])
    expect(problems.join()).toMatch(problem)
  })

  it.each([
    ['http://x.example/a', 'http://x.example/a'],
    ['"tool:read"', 'tool:read'],
    ['"open quote', 'open quote'],
    ['wörld:thing', 'wörld:thing'],
    ['constructor:x', 'constructor:x'],
  ])('%s is a text', (query, value) => {
    expect(parseQuery(query)).toEqual({
      terms: [{ field: 'text', value, excluded: false }],
      problems: [],
    })
  })

  it('is read in time, whatever it is', () => {
    const hostile = [
      '"'.repeat(100_000),
      'a:'.repeat(100_000),
      '-'.repeat(100_000),
      'tool:"'.repeat(10_000),
    ]
    for (const query of hostile) expect(parseQuery(query).terms.length).toBeLessThan(1000)
  })
})
