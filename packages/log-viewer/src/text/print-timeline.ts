import { SmithersError } from '@smithers/tool-core'
import type { RunStore, ToolCallLog } from '@smithers/tool-core'
import type { CallSummary, RunResponse } from '../api/calls.ts'
import type { ErrorText } from '../api/session.ts'
import { ChangeWatch } from '../http/wait-for-change.ts'
import { LogReader } from '../reading/log-reader.ts'
import { everyCall, readRun } from '../reading/read-run.ts'
import { newestRows, readRuns } from '../reading/read-runs.ts'
import { callLine, codeLine, groupLine, runLine } from './timeline-lines.ts'

/** Options of {@link printTimeline} and {@link followTimeline}. */
export interface TimelineOptions {
  readonly log: ToolCallLog
  /** The runs of workflows, when they are not in the log. @default `log.runs` */
  readonly store?: RunStore | undefined
  /** Which run. @default the newest */
  readonly runId?: string | undefined
  /** Takes each line, without a line break. Control characters in it are escaped. */
  readonly write: (line: string) => void
  /** Columns of the terminal. From 80 on each call has a bar. @default 100 */
  readonly width?: number | undefined
  /** What error codes mean, by code: said of each code of the run. @default none */
  readonly errorTexts?: Readonly<Record<string, ErrorText>> | undefined
}

/**
 * Writes the timeline of a run as text: the same rows as the page.
 *
 * @throws SmithersError `INVALID_INPUT` for a run that the log does not have.
 */
export async function printTimeline(options: TimelineOptions): Promise<void> {
  const { reader, run } = await open(options)
  const explain = explainer(options)
  const codes = new Set<string>()
  await printRun(reader, run, options, ({ errorCode }) => {
    if (errorCode !== null) codes.add(errorCode)
  })
  const lines = [...codes].flatMap(explain)
  if (lines.length > 0) options.write('')
  for (const line of lines) options.write(line)
}

/** Says of a code what it means, the first time. */
function explainer({
  errorTexts = {},
}: TimelineOptions): (code: string | null) => readonly string[] {
  const said = new Set<string | null>()
  return (code) => {
    const text = code !== null && Object.hasOwn(errorTexts, code) ? errorTexts[code] : undefined
    if (code === null || text === undefined || said.has(code)) return []
    said.add(code)
    return [codeLine(code, text)]
  }
}

async function printRun(
  reader: LogReader,
  run: RunResponse,
  { width = 100, write }: TimelineOptions,
  onCall: (call: CallSummary) => void,
): Promise<void> {
  const scale = { width, fromMs: run.fromMs, toMs: run.toMs, nowMs: reader.nowMs() }
  if (reader.log.listRuns === undefined) {
    write(`This log lists no runs, so only its newest ${newestRows} calls are shown.`)
  }
  write(runLine(run))
  if (run.leftOut > 0) write(`The oldest ${run.leftOut} calls are left out.`)
  let groups = [...run.groups]
  for await (const call of everyCall(reader, run.run.runId)) {
    const begins = groups.find((group) => isOf(call, group))
    if (begins !== undefined) {
      groups = groups.filter((group) => group !== begins)
      write('')
      write(groupLine(begins))
    }
    write(callLine(call, scale))
    onCall(call)
  }
}

/**
 * Writes the timeline of a run, then each call as it starts and once more as it ends, until the signal aborts.
 *
 * @throws SmithersError `INVALID_INPUT` for a run that the log does not have.
 */
export async function followTimeline(
  options: TimelineOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { reader, run } = await open(options)
  const { width = 100, write, signal } = options
  const { runId } = run.run
  const shown = new Map<string, string>()
  const explain = explainer(options)
  await printRun(reader, run, options, (call) => shown.set(call.callToken, call.outcome))
  const watch = new ChangeWatch(reader)
  let version = run.version
  while (!signal.aborted) {
    for await (const call of everyCall(reader, runId)) {
      if (shown.get(call.callToken) === call.outcome) continue
      shown.set(call.callToken, call.outcome)
      write(
        callLine(call, { width: Math.min(width, 79), fromMs: 0, toMs: 0, nowMs: reader.nowMs() }),
      )
      for (const line of explain(call.errorCode)) write(line)
    }
    version = await watch.until(version, longestWaitMs, signal)
  }
}

const longestWaitMs = 60_000

async function open({
  log,
  store,
  runId,
}: TimelineOptions): Promise<{ readonly reader: LogReader; readonly run: RunResponse }> {
  const reader = new LogReader(log, store)
  const { runs } = await readRuns(reader, { limit: 1, runId })
  const id = runs[0]?.runId
  const run = id === undefined ? undefined : await readRun(reader, id)
  if (run !== undefined) return { reader, run }
  throw new SmithersError(
    'INVALID_INPUT',
    runId === undefined
      ? 'The log has no run yet.'
      : `The log has no run ${JSON.stringify(runId)}. Leave the id out for the newest one.`,
  )
}

function isOf(call: CallSummary, group: RunResponse['groups'][number]): boolean {
  return (
    call.nodeId === group.nodeId &&
    call.iteration === group.iteration &&
    call.attempt === group.attempt
  )
}
