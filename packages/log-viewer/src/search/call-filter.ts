import { codeOfHead } from '@smithers/tool-core/log'
import type { CallSearch, ToolCallRow } from '@smithers/tool-core/log'
import type { SearchTerm } from '../api/search.ts'
import { outcomeOf } from '../reading/outcome.ts'
import { durationOf, momentOf } from './parse-query.ts'

/** A query as the log and the viewer share its work. */
export interface CallFilter {
  /** What the log looks for. Contents are searched there, whole. */
  readonly search: CallSearch
  /** What is asked of each row that the log finds; its contents may be cut. */
  readonly accepts: (row: ToolCallRow) => boolean
  /** Words that must not occur. A log cannot exclude them, so whole contents are needed. */
  readonly excludedTexts: readonly string[]
}

/** Makes a filter of the terms of a query. */
export function callFilter(
  terms: readonly SearchTerm[],
  { runId, nowMs }: { readonly runId: string | undefined; readonly nowMs: number },
): CallFilter {
  const of = (field: string, excluded = false): string[] =>
    terms
      .filter((term) => term.field === field && term.excluded === excluded)
      .map(({ value }) => value)
  const runs = runId === undefined ? of('run') : [runId]
  const moments = (field: string): number[] =>
    of(field).map((value) => momentOf(value, nowMs) ?? nowMs)
  const after = moments('after')
  const before = moments('before')
  const excludedTexts = of('text', true)
  return {
    search: {
      texts: of('text'),
      order: 'descending',
      ...onlyOne('runId', runs),
      ...onlyOne('toolName', of('tool')),
      ...onlyOne('nodeId', of('task')),
      ...onlyOne('idempotencyKey', of('key')),
      ...(after.length > 0 && { startedFromMs: Math.max(...after) }),
      ...(before.length > 0 && { startedBeforeMs: Math.min(...before) }),
    },
    accepts(row) {
      return tests.every(([field, matches]) => {
        const wanted = field === 'run' ? runs : of(field)
        return (
          (wanted.length === 0 || wanted.some((value) => matches(row, value, nowMs))) &&
          !of(field, true).some((value) => matches(row, value, nowMs))
        )
      })
    },
    excludedTexts,
  }
}

type RowTest = (row: ToolCallRow, value: string, nowMs: number) => boolean

const tests: readonly (readonly [field: string, matches: RowTest])[] = [
  ['tool', (row, value) => row.toolName === value],
  ['task', (row, value) => row.nodeId === value],
  ['run', (row, value) => row.runId === value],
  ['key', (row, value) => row.idempotencyKey === value],
  ['trace', (row, value) => row.traceId === value.toLowerCase()],
  ['code', (row, value) => codeOfHead(row.errorJson) === value.toUpperCase()],
  ['effect', (row, value) => row.effect === value.toLowerCase()],
  ['is', (row, value, nowMs) => outcomeOf(row, nowMs) === value.toLowerCase()],
  [
    'slower',
    (row, value, nowMs) =>
      (row.finishedAtMs ?? nowMs) - row.startedAtMs > (durationOf(value) ?? Infinity),
  ],
]

function onlyOne<Field extends string>(
  field: Field,
  values: readonly string[],
): Partial<Record<Field, string>> {
  const [value] = values
  return value !== undefined && values.length === 1
    ? ({ [field]: value } as Record<Field, string>)
    : {}
}
