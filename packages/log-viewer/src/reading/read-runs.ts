import { runsOfRows } from '@smithers/tool-core/log'
import type {
  LoggedRun,
  LoggedRunCursor,
  LoggedRunQuery,
  ToolCallRow,
} from '@smithers/tool-core/log'
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
  const query = {
    limit: limit + 1,
    ...(runId !== undefined && { runId }),
    ...(after !== undefined && { after }),
  }
  const found =
    reader.log.listRuns === undefined
      ? await runsOfNewestRows(reader, query)
      : await reader.log.listRuns(query)
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

async function runsOfNewestRows(reader: LogReader, query: LoggedRunQuery): Promise<LoggedRun[]> {
  const { runId } = query
  const rows = await reader.log.list({
    order: 'descending',
    limit: newestRows,
    contentsUpTo: 100,
    ...(runId !== undefined && { runId }),
  })
  const byRun = new Map<string, Set<ToolCallRow>>()
  for (const row of rows) {
    const run = byRun.get(row.runId)
    if (run === undefined) byRun.set(row.runId, new Set([row]))
    else run.add(row)
  }
  const recorded = (await reader.runs?.list(runId === undefined ? {} : { runId })) ?? []
  return runsOfRows(byRun, recorded, query)
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
