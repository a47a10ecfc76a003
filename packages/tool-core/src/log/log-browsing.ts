import type { CallEffect } from '../errors/smithers-error.ts'
import type { RunStatus } from './run-store.ts'
import type { ToolCallCursor, ToolCallQuery } from './tool-call-query.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/** Which runs to list, newest first. */
export interface LoggedRunQuery {
  readonly runId?: string
  /** At most this many. @default 50 */
  readonly limit?: number
  /** Runs after this one in the order of the listing. */
  readonly after?: LoggedRunCursor
}

/** Where the next page of runs begins: the last run of the page before. */
export interface LoggedRunCursor {
  /** When the run last showed a sign of life: the start of its last call, or its own start when it has none. */
  readonly activityMs: number
  readonly runId: string
}

/** A run and what became of its calls. It may be in the store of runs, or exist only as calls. */
export interface LoggedRun extends LoggedRunCursor {
  /** The workflow's name; null for a run that exists only as calls, and before it is known. */
  readonly workflow: string | null
  /** Null for a run that exists only as calls. */
  readonly status: RunStatus | null
  /** The failure of the run. */
  readonly errorJson: string | null
  /** The start of the run, or of its first call. Milliseconds since the epoch. */
  readonly startedAtMs: number
  /** Null while it runs, and for a run that exists only as calls. */
  readonly finishedAtMs: number | null
  /** Null for a run without calls. */
  readonly lastCallAtMs: number | null
  readonly calls: number
  /** Calls without an end, orphans included. */
  readonly running: number
  /** Calls that `recover` has marked: the record of their end is missing. */
  readonly unknown: number
  /** Calls that ended with any other error. */
  readonly failed: number
  /** Those errors by code and effect, the most frequent first. */
  readonly errors: readonly ErrorCount[]
}

/** How many calls of a run ended with one code and effect. */
export interface ErrorCount {
  /** Null for an error without a code. */
  readonly code: string | null
  readonly effect: CallEffect | null
  readonly count: number
}

/** A search through the calls of a log, newest or oldest first as the query says. */
export interface CallSearch extends ToolCallQuery {
  /**
   * Each of these must occur in the tool's name, the task's id, the arguments, the output, the error, the key, the call's
   * id or the trace's id. Case does not matter in the letters A to Z. JSON is searched as it is written.
   */
  readonly texts: readonly string[]
  /**
   * The search stops after this many rows of the run and the time that the query names, so that it answers soon however
   * large the log is.
   *
   * @default 10_000
   */
  readonly examine?: number
}

/** What a search found in the rows that it looked at. */
export interface CallMatches {
  readonly rows: ToolCallRow[]
  /** Where to go on; null when nothing is left to look at. */
  readonly next: ToolCallCursor | null
}

/** `listRuns` returns at most this many runs unless the query says otherwise. */
export const defaultRunLimit = 50

/** A search looks at this many rows unless the query says otherwise. */
export const defaultExamined = 10_000

/** How much of an error an adapter needs to tell its code. Characters. */
export const errorHeadLength = 80

/** Errors of a run that have the same effect and begin with the same characters. */
export interface ErrorGroup {
  readonly effect: CallEffect | null
  /** The first {@link errorHeadLength} characters of `errorJson`. */
  readonly errorHead: string | null
  readonly count: number
}

/** The counts of a run's errors, from groups of them. */
export function countErrors(
  groups: Iterable<ErrorGroup>,
): Pick<LoggedRun, 'unknown' | 'failed' | 'errors'> {
  const counts = new Map<
    string,
    { code: string | null; effect: CallEffect | null; count: number }
  >()
  let unknown = 0
  let failed = 0
  for (const { effect, errorHead, count } of groups) {
    const code = codeOfHead(errorHead)
    if (code === 'TOOL_OUTCOME_UNKNOWN' && effect === 'unknown') {
      unknown += count
      continue
    }
    failed += count
    const key = `${effect} ${code}`
    const known = counts.get(key)
    if (known === undefined) counts.set(key, { code, effect, count })
    else known.count += count
  }
  const errors = [...counts.entries()]
    .toSorted(([a, one], [b, other]) => other.count - one.count || (a < b ? -1 : 1))
    .map(([, error]) => error)
  return { unknown, failed, errors }
}

/** The code of a recorded error, from the beginning of its JSON. */
export function codeOfHead(errorHead: string | null): string | null {
  return codeAtStart.exec(errorHead ?? '')?.[1] ?? null
}

// An error is recorded with its name and its code first.
const codeAtStart = /^\{(?:"name":"[^"\\]*",)?"code":"([^"\\]+)"/

/** Newest activity first. */
export function runOrder(a: LoggedRunCursor, b: LoggedRunCursor): number {
  if (a.activityMs !== b.activityMs) return b.activityMs - a.activityMs
  if (a.runId === b.runId) return 0
  return a.runId < b.runId ? 1 : -1
}
