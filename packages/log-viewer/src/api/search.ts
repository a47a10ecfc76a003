import type { CallSummary } from './calls.ts'

/**
 * `GET /api/search?q=…&runId=…&limit=100&cursor=…`: the newest calls that match, of one run or of all.
 *
 * Words and `"quoted phrases"` are looked for in name, arguments, output, error, key, trace and call id, without regard
 * to case; every one must occur. Filters: `tool:charge`, `is:unknown` (any outcome), `effect:applied`, `task:pay`,
 * `run:ID`, `code:TOOL_TIMEOUT`, `trace:ID`, `key:KEY`, `after:2026-01-31`, `after:2h`, `before:…`, `slower:2s`. A filter
 * given twice matches either value; `-tool:read` excludes.
 */
export interface SearchResponse {
  readonly calls: readonly CallSummary[]
  readonly nextCursor: string | null
  /** What the query was understood as. */
  readonly terms: readonly SearchTerm[]
  /** What of the query was not understood, one sentence each. */
  readonly problems: readonly string[]
  /** How many calls were looked at for this page. */
  readonly examined: number
  /** True when the search stopped before its end, to answer in time; `nextCursor` goes on from there. */
  readonly stopped: boolean
  readonly version: string
}

export interface SearchTerm {
  /** `'text'` or the name of the filter. */
  readonly field: string
  readonly value: string
  readonly excluded: boolean
}
