import type { QueuedRun } from '@smithers/worker'
import type { ApprovalRow, RunRow, TaskRow, ToolCallRow } from '@smithers/tool-core/log'
import { callOutcome, errorFields, parsedJson } from '../log/call-outcome.ts'

/** A row whose JSON columns are values: `inputJson` is `input`. */
type Values<Row> = {
  readonly [
    Name in keyof Row as Name extends `${infer Value}Json` ? Value : Name
  ]: Name extends `${string}Json` ? unknown : Row[Name]
}

/** A call as `--json` prints it. */
export interface CallDocument extends Values<ToolCallRow> {
  readonly type: 'call'
  readonly outcome: string
  readonly code: string | null
  readonly message: string | null
  readonly durationMs: number | null
}

/** The document of a call. */
export function callDocument(row: ToolCallRow, nowMs: number): CallDocument {
  const { startedAtMs, finishedAtMs } = row
  return {
    type: 'call',
    ...callOutcome(row, nowMs),
    message: errorFields(row).message ?? null,
    durationMs: finishedAtMs === null ? null : finishedAtMs - startedAtMs,
    ...values(row),
  }
}

/** The document of an approval. */
export function approvalDocument(row: ApprovalRow): object {
  return { type: 'approval', ...values(row) }
}

/** A run without the token of its lease, which only its owner may know. */
export function runValues(row: RunRow): Values<Omit<RunRow, 'leaseToken'>> {
  const run: Partial<RunRow> = { ...row }
  delete (run as { leaseToken?: unknown }).leaseToken
  return values(run as Omit<RunRow, 'leaseToken'>)
}

/** What the queue knows of a run. */
export function queueValues(run: QueuedRun): object {
  const { queue, definition, worker, hasWorker, priority, failures, lastErrorJson, runAt } = run
  return {
    name: queue,
    definition,
    worker,
    hasWorker,
    priority,
    failures,
    lastError: lastErrorJson === null ? null : parsedJson(lastErrorJson),
    runAtMs: runAt.getTime(),
  }
}

/** A task of a run. */
export function taskValues(task: TaskRow): object {
  return values(task)
}

function values<Row extends object>(row: Row): Values<Row> {
  const entries = Object.entries(row).map(([name, value]: [string, unknown]) =>
    name.endsWith('Json')
      ? [name.slice(0, -'Json'.length), value === null ? null : parsedJson(value as string)]
      : [name, value],
  )
  return Object.fromEntries(entries) as Values<Row>
}
