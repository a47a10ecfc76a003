import type { SearchTerm } from '../api/search.ts'

/** A search query, taken apart. */
export interface ParsedQuery {
  readonly terms: readonly SearchTerm[]
  /** What was not understood, one sentence each. */
  readonly problems: readonly string[]
}

/** Filters by name, and why a value is none. */
const filters: Readonly<Record<string, (value: string) => string | undefined>> = {
  tool: () => undefined,
  task: () => undefined,
  run: () => undefined,
  code: () => undefined,
  trace: () => undefined,
  key: () => undefined,
  is: (value) =>
    outcomes.has(value.toLowerCase())
      ? undefined
      : `is: takes ${[...outcomes].join(', ')}, not "${value}".`,
  effect: (value) =>
    effects.has(value.toLowerCase())
      ? undefined
      : `effect: takes none, applied or unknown, not "${value}".`,
  after: (value) =>
    momentOf(value, 0) === undefined
      ? `after: takes a date or an age like 2h, not "${value}".`
      : undefined,
  before: (value) =>
    momentOf(value, 0) === undefined
      ? `before: takes a date or an age like 2h, not "${value}".`
      : undefined,
  slower: (value) =>
    durationOf(value) === undefined
      ? `slower: takes a duration like 500ms, 2s or 1m, not "${value}".`
      : undefined,
}

function filterOf(name = ''): ((value: string) => string | undefined) | undefined {
  return Object.hasOwn(filters, name.toLowerCase()) ? filters[name.toLowerCase()] : undefined
}

const outcomes: ReadonlySet<string> = new Set([
  'ok',
  'failed',
  'refused',
  'running',
  'unknown',
  'replayed',
  'cached',
  'fenced',
  'waiting',
])

const effects: ReadonlySet<string> = new Set(['none', 'applied', 'unknown'])

/** Takes a query apart. Never fails: a person is still typing it. */
export function parseQuery(query: string): ParsedQuery {
  const terms: SearchTerm[] = []
  const problems: string[] = []
  for (const [, minus = '', name, quotedValue, plainValue, quoted, plain] of query
    .slice(0, longestQuery)
    .matchAll(term)) {
    const excluded = minus === '-'
    const value = quotedValue ?? plainValue
    const check = filterOf(name)
    if (name === undefined || check === undefined || value === undefined) {
      // A word with a colon that is no filter, such as an address, is a text.
      const text = quoted ?? plain ?? `${name}:${value ?? ''}`
      if (text !== '') terms.push({ field: 'text', value: text, excluded })
      continue
    }
    if (value === '') continue
    const problem = check(value)
    if (problem === undefined) terms.push({ field: name.toLowerCase(), value, excluded })
    else problems.push(problem)
  }
  if (query.length > longestQuery) problems.push(`Only the first ${longestQuery} characters count.`)
  return { terms, problems }
}

const longestQuery = 1000

// A minus, then a filter with a quoted or plain value, or a quoted text, or a word. A quote may still be open.
const term = /(?<=^|\s)(-?)(?:([a-z]+):(?:"([^"]*)"?|([^\s"]*))(?=\s|$)|"([^"]*)"?|(\S+))/gi

/** A date, or an age before now, as milliseconds since the epoch. */
export function momentOf(value: string, nowMs: number): number | undefined {
  const age = durationOf(value)
  if (age !== undefined) return nowMs - age
  if (!/^\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?$/i.test(value)) return undefined
  // A day without a time begins where the person is.
  const moment = Date.parse(/T/i.test(value) || value.length < 10 ? value : `${value}T00:00`)
  return Number.isNaN(moment) ? undefined : moment
}

/** A duration such as `500ms`, `2s`, `1.5m`, `3h` or `7d` in milliseconds. */
export function durationOf(value: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/i.exec(value) ?? []
  const factor = units[unit.toLowerCase()]
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}
