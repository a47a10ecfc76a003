import {
  countErrors,
  defaultRunLimit,
  errorHeadLength,
  type LoggedRun,
  type LoggedRunQuery,
  runOrder,
} from './log-browsing.ts'
import type { RunRow } from './run-store.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/**
 * `listRuns` of an adapter that holds its rows in memory: the newest runs first.
 *
 * @param callsByRun The rows of each run, in any order. The beginning of `errorJson` is enough.
 * @param recorded The rows of the store of runs.
 */
export function runsOfRows(
  callsByRun: ReadonlyMap<string, ReadonlySet<ToolCallRow>>,
  recorded: readonly RunRow[],
  { runId, limit = defaultRunLimit, after }: LoggedRunQuery,
): LoggedRun[] {
  const runs = new Map(recorded.map((run) => [run.runId, run]))
  const ids = runId === undefined ? new Set([...callsByRun.keys(), ...runs.keys()]) : [runId]
  return [...ids]
    .map((id) => loggedRun(id, runs.get(id), [...(callsByRun.get(id) ?? [])]))
    .filter((run) => run !== undefined)
    .filter((run) => after === undefined || runOrder(run, after) > 0)
    .toSorted(runOrder)
    .slice(0, limit)
}

function loggedRun(
  runId: string,
  run: RunRow | undefined,
  calls: readonly ToolCallRow[],
): LoggedRun | undefined {
  const starts = calls.map(({ startedAtMs }) => startedAtMs)
  const lastCallAtMs = starts.length === 0 ? null : starts.reduce((a, b) => Math.max(a, b))
  const startedAtMs = run?.startedAtMs ?? starts.reduce((a, b) => Math.min(a, b), Infinity)
  if (startedAtMs === Infinity) return undefined
  const failed = calls.filter(({ status }) => status === 'error')
  return {
    runId,
    activityMs: lastCallAtMs ?? startedAtMs,
    workflow: run?.workflow ?? null,
    status: run?.status ?? null,
    errorJson: run?.errorJson ?? null,
    startedAtMs,
    finishedAtMs: run?.finishedAtMs ?? null,
    lastCallAtMs,
    calls: calls.length,
    running: calls.filter(({ finishedAtMs }) => finishedAtMs === null).length,
    ...countErrors(
      failed.map(({ effect, errorJson }) => ({
        effect,
        errorHead: errorJson?.slice(0, errorHeadLength) ?? null,
        count: 1,
      })),
    ),
  }
}
