import { codeOfHead } from '@smithers/tool-core/log'
import type { LoggedRun, LoggedRunCursor, RunRow, ToolCallRow } from '@smithers/tool-core/log'
import type { RunCounts, RunsResponse, RunSummary } from '../api/runs.ts'
import { failureOutcome, outcomeOf } from './outcome.ts'
import type { LogReader } from './log-reader.ts'
import { readableError } from './readable-error.ts'

/** Which runs to read. */
export interface RunsRequest {
  readonly limit: number
  readonly runId?: string | undefined
  readonly cursor?: string | undefined
}

/** The newest runs first. */
export async function readRuns(reader: LogReader, request: RunsRequest): Promise<RunsResponse> {
  const version = await reader.version()
  const after = cursorFrom(request.cursor)
  const { runId, limit } = request
  const found =
    reader.log.listRuns === undefined
      ? (await runsOfNewestRows(reader, runId)).filter((run) => isAfter(run, after))
      : await reader.log.listRuns({
          limit: limit + 1,
          ...(runId !== undefined && { runId }),
          ...(after !== undefined && { after }),
        })
  const page = found.slice(0, limit)
  const waits = await pendingByRun(reader)
  const last = page.at(-1)
  return {
    runs: await Promise.all(page.map((run) => summaryOf(reader, run, waits.get(run.runId) ?? 0))),
    nextCursor: found.length > limit && last !== undefined ? cursorText(last) : null,
    version,
  }
}

async function summaryOf(reader: LogReader, run: LoggedRun, waits: number): Promise<RunSummary> {
  const status = run.status ?? 'calls-only'
  return {
    runId: run.runId,
    name: run.workflow,
    status,
    startedAtMs: run.startedAtMs,
    finishedAtMs: status === 'calls-only' ? await endOfCalls(reader, run) : run.finishedAtMs,
    lastCallAtMs: run.lastCallAtMs,
    error: readableError(run.errorJson)?.message ?? null,
    counts: await countsOf(reader, run, waits),
  }
}

async function endOfCalls(reader: LogReader, run: LoggedRun): Promise<number | null> {
  if (run.running > 0) return null
  const query = { runId: run.runId, order: 'descending', limit: 1, contentsUpTo: 1 } as const
  const [last] = await reader.log.list(query)
  return last?.finishedAtMs ?? null
}

async function countsOf(reader: LogReader, run: LoggedRun, waits: number): Promise<RunCounts> {
  const lost = run.running === 0 ? 0 : await orphansOf(reader, run.runId)
  const outcomes = run.errors.map(({ code, effect, count }) => ({
    outcome: failureOutcome(code, effect),
    count,
  }))
  const of = (...wanted: readonly string[]): number =>
    outcomes.reduce((sum, { outcome, count }) => sum + (wanted.includes(outcome) ? count : 0), 0)
  return {
    calls: run.calls,
    running: run.running - lost,
    unknown: run.unknown + lost,
    failed: of('failed', 'fenced', 'unknown'),
    refused: of('refused'),
    waits,
  }
}

/** Running calls whose process has ended: `recover` has not marked them yet. */
async function orphansOf(reader: LogReader, runId: string): Promise<number> {
  const rows = await reader.log.list({ runId, status: 'started', contentsUpTo: 1 })
  return rows.filter((row) => outcomeOf(row, reader.nowMs()) === 'unknown').length
}

async function pendingByRun(reader: LogReader): Promise<Map<string, number>> {
  const waits = new Map<string, number>()
  const nowMs = reader.nowMs()
  for (const { runId, expiresAtMs } of (await reader.approvals?.list({ status: 'pending' })) ??
    []) {
    if (expiresAtMs !== null && expiresAtMs <= nowMs) continue
    waits.set(runId, (waits.get(runId) ?? 0) + 1)
  }
  return waits
}

/** Calls from which the list of runs is made where the log cannot list them. */
export const newestRows = 10_000

async function runsOfNewestRows(
  reader: LogReader,
  runId: string | undefined,
): Promise<LoggedRun[]> {
  const rows = await reader.log.list({
    order: 'descending',
    limit: newestRows,
    contentsUpTo: 100,
    ...(runId !== undefined && { runId }),
  })
  const byRun = new Map<string, ToolCallRow[]>()
  for (const row of rows) {
    const run = byRun.get(row.runId)
    if (run === undefined) byRun.set(row.runId, [row])
    else run.push(row)
  }
  const recorded = new Map<string, RunRow>()
  for (const run of (await reader.runs?.list(runId === undefined ? {} : { runId })) ?? []) {
    recorded.set(run.runId, run)
  }
  const ids = new Set([...byRun.keys(), ...recorded.keys()])
  return [...ids]
    .map((id) => loggedRun(id, byRun.get(id) ?? [], recorded.get(id)))
    .toSorted((a, b) => b.activityMs - a.activityMs || (a.runId < b.runId ? 1 : -1))
}

function loggedRun(
  runId: string,
  newestFirst: readonly ToolCallRow[],
  run: RunRow | undefined,
): LoggedRun {
  const lastCallAtMs = newestFirst[0]?.startedAtMs ?? null
  const startedAtMs = run?.startedAtMs ?? newestFirst.at(-1)?.startedAtMs ?? 0
  const errors = newestFirst.filter(({ status }) => status === 'error')
  const failed = errors.filter((row) => !isUnknown(row))
  return {
    runId,
    activityMs: lastCallAtMs ?? startedAtMs,
    workflow: run?.workflow ?? null,
    status: run?.status ?? null,
    errorJson: run?.errorJson ?? null,
    startedAtMs,
    finishedAtMs: run?.finishedAtMs ?? null,
    lastCallAtMs,
    calls: newestFirst.length,
    running: newestFirst.filter(({ finishedAtMs }) => finishedAtMs === null).length,
    unknown: errors.length - failed.length,
    failed: failed.length,
    errors: failed.map(({ errorJson, effect }) => ({
      code: codeOfHead(errorJson),
      effect,
      count: 1,
    })),
  }
}

function isUnknown(row: ToolCallRow): boolean {
  return failureOutcome(codeOfHead(row.errorJson), row.effect) === 'unknown'
}

function isAfter(run: LoggedRunCursor, after: LoggedRunCursor | undefined): boolean {
  if (after === undefined) return true
  return (
    run.activityMs < after.activityMs ||
    (run.activityMs === after.activityMs && run.runId < after.runId)
  )
}

function cursorText({ activityMs, runId }: LoggedRunCursor): string {
  return Buffer.from(JSON.stringify([activityMs, runId])).toString('base64url')
}

function cursorFrom(cursor: string | undefined): LoggedRunCursor | undefined {
  if (cursor === undefined) return undefined
  try {
    const [activityMs, runId] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (typeof activityMs === 'number' && typeof runId === 'string') return { activityMs, runId }
  } catch {
    // Not one of ours: begin with the newest run.
  }
  return undefined
}
