import type { ToolCallRow } from '@smithers/tool-core/log'
import type {
  CallGroup,
  CallsResponse,
  CallSummary,
  RunResponse,
  TimelineResponse,
} from '../api/calls.ts'
import { groupCalls, type GroupedCalls, orderCalls, type OrderedGroup } from './call-groups.ts'
import { summarize } from './call-summary.ts'
import { approvalOf, type LogReader } from './log-reader.ts'
import { readRuns } from './read-runs.ts'

/** Which calls of a run to read. */
export interface CallsRequest {
  readonly runId: string
  readonly limit: number
  /** The `callToken` of the call before the page. */
  readonly cursor?: string | undefined
  /** The position of the first call, from 0. */
  readonly from?: number | undefined
}

/** The frame of a run and its first calls; without a run, of the one with the newest call. */
export async function readTimeline(
  reader: LogReader,
  { runId, limit }: { readonly runId: string | undefined; readonly limit: number },
): Promise<TimelineResponse> {
  const id = runId ?? (await newestRunId(reader))
  const run = id === undefined ? undefined : await readRun(reader, id)
  if (run === undefined) return { run: null, calls: null }
  return { run, calls: await readCalls(reader, { runId: run.run.runId, limit }) }
}

async function newestRunId(reader: LogReader): Promise<string | undefined> {
  const [call] = await reader.log.list({ order: 'descending', limit: 1, contentsUpTo: 1 })
  if (call !== undefined) return call.runId
  // Runs are there that have made no call yet.
  const [run] = (await readRuns(reader, { limit: 1 })).runs
  return run?.runId
}

/** The frame of a run's timeline; undefined for a run that the log does not know. */
export async function readRun(reader: LogReader, runId: string): Promise<RunResponse | undefined> {
  const version = await reader.version()
  const { runs } = await readRuns(reader, { runId, limit: 1 })
  const [run] = runs
  if (run === undefined) return undefined
  const approvals = await reader.approvalsOf(runId)
  const attempts = (await reader.runs?.attempts(runId)) ?? []
  const nowMs = reader.nowMs()
  const groups = groupCalls(orderOf(await reader.callsOf(runId, version)), attempts, nowMs)
  const ends = groups.flatMap(({ rows }) => rows.map((row) => row.finishedAtMs ?? nowMs))
  const starts = groups.map(({ startedAtMs }) => startedAtMs)
  const asked = approvals.map(({ requestedAtMs }) => requestedAtMs)
  const count = groups.reduce((sum, group) => sum + group.count, 0)
  return {
    run: groups.length === 0 ? run : { ...run, counts: { ...run.counts, ...exactCounts(groups) } },
    groups: groups.map(withoutRows),
    fromMs: least([...starts, ...asked], run.startedAtMs),
    toMs: most(
      [...ends, ...approvals.map(({ decidedAtMs }) => decidedAtMs ?? nowMs)],
      run.finishedAtMs ?? run.startedAtMs,
    ),
    leftOut: Math.max(0, run.counts.calls - count),
    version,
  }
}

/** A page of calls in the order of the timeline. */
export async function readCalls(reader: LogReader, request: CallsRequest): Promise<CallsResponse> {
  const { runId, limit, cursor, from = 0 } = request
  const version = await reader.version()
  const rows = await reader.callsOf(runId, version)
  const approvals = await reader.approvalsOf(runId)
  const ordered = orderOf(rows).flatMap((group) => group.rows)
  const before = cursor === undefined ? -1 : ordered.findIndex((row) => row.callToken === cursor)
  const first = cursor === undefined ? Math.max(0, from) : before + 1
  const page = ordered.slice(first, first + limit)
  const nowMs = reader.nowMs()
  const calls = page.map((row): CallSummary => {
    const original = row.replayOf === null ? undefined : rows.get(row.replayOf)
    return summarize(row, { nowMs, approval: approvalOf(row, approvals), original })
  })
  const more = first + page.length < ordered.length
  return {
    from: first,
    total: ordered.length,
    calls,
    nextCursor: more ? (page.at(-1)?.callToken ?? null) : null,
    version,
  }
}

/** Every call of a run in the order of its page, read a thousand at a time. */
export async function* everyCall(reader: LogReader, runId: string): AsyncGenerator<CallSummary> {
  let cursor: string | undefined
  do {
    const page = await readCalls(reader, { runId, limit: 1000, cursor })
    yield* page.calls
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

const orders = new WeakMap<ReadonlyMap<string, ToolCallRow>, readonly OrderedGroup[]>()

/** Sorted once for each version of the run, not for each page of it. */
function orderOf(rows: ReadonlyMap<string, ToolCallRow>): readonly OrderedGroup[] {
  const order = orders.get(rows) ?? orderCalls(rows.values())
  orders.set(rows, order)
  return order
}

function withoutRows({ rows, ...group }: GroupedCalls): CallGroup {
  void rows
  return group
}

function exactCounts(groups: readonly CallGroup[]): {
  running: number
  unknown: number
  failed: number
  refused: number
} {
  const of = (outcome: keyof CallGroup['counts']): number =>
    groups.reduce((sum, { counts }) => sum + (counts[outcome] ?? 0), 0)
  return {
    running: of('running'),
    unknown: of('unknown'),
    failed: of('failed') + of('fenced'),
    refused: of('refused'),
  }
}

function least(values: readonly number[], otherwise: number): number {
  return values.reduce((a, b) => Math.min(a, b), otherwise)
}

function most(values: readonly number[], otherwise: number): number {
  return values.reduce((a, b) => Math.max(a, b), otherwise)
}
