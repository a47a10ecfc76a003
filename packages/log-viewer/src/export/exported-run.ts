import { basename } from 'node:path'
import { setImmediate as otherWork } from 'node:timers/promises'
import type { CallDetail } from '../api/call-detail.ts'
import type { CallSummary, RunResponse } from '../api/calls.ts'
import type { ExportedRun } from '../api/exported-run.ts'
import type { SessionResponse } from '../api/session.ts'
import type { LogReader } from '../reading/log-reader.ts'
import { viewOf } from '../reading/read-approvals.ts'
import { readCall } from '../reading/read-call.ts'
import { everyCall } from '../reading/read-run.ts'

/** How much of a run one page holds in full. A browser reads the whole file before it shows the first call. */
const mostCallsInFull = 5000
const mostContents = 32 * 1024 * 1024

/** Everything that the page shows of a run, as JSON in parts: an {@link ExportedRun}. */
export async function* exportedRun(
  reader: LogReader,
  run: RunResponse,
  session: SessionResponse,
): AsyncGenerator<string> {
  const approvals = await Promise.all(
    (await reader.approvalsOf(run.run.runId)).map((row) => viewOf(reader, row)),
  )
  const head: Omit<ExportedRun, 'calls' | 'callsInFull'> = {
    format: 1,
    exportedAtMs: reader.nowMs(),
    // The file is passed on: where the log was, and who looked at it, stays here.
    session: {
      ...session,
      canDecide: false,
      title: basename(session.title),
      logArgument: null,
      decidedBy: '',
    },
    run,
    approvals,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"calls":[`
  let written = 0
  let callsInFull = 0
  let contents = 0
  for await (const summary of everyCall(reader, run.run.runId)) {
    const isFull = callsInFull < mostCallsInFull && contents < mostContents
    const call = isFull ? await detailOf(reader, summary) : withoutContents(summary)
    const json = JSON.stringify(call)
    if (call.contentsLeftOut !== true) callsInFull += 1
    contents += json.length
    yield written === 0 ? json : `,${json}`
    written += 1
    // A log that answers at once would keep the server from everyone else.
    if (written % 50 === 0) await otherWork()
  }
  yield `],"callsInFull":${callsInFull}}`
}

async function detailOf(reader: LogReader, summary: CallSummary): Promise<CallDetail> {
  const texts = { logArgument: null, errorDocs: null }
  return (await readCall(reader, summary.callToken, texts)) ?? withoutContents(summary)
}

function withoutContents(summary: CallSummary): CallDetail {
  return {
    summary,
    outcomeText: 'What this call was given and what it returned is not in this file.',
    contentsLeftOut: true,
    toolCallId: null,
    idempotencyKey: null,
    inputHash: null,
    occurrence: 0,
    idempotent: false,
    effectScope: null,
    ownerId: null,
    leaseExpiresAtMs: null,
    traceId: null,
    spanId: null,
    inputJson: null,
    outputJson: null,
    outputExact: false,
    error: null,
    networkJson: null,
    inputCut: false,
    inputHidden: false,
    approval: null,
    replayedOriginal: null,
    sameKey: [],
    sameKeyCount: 1,
    attemptBefore: null,
    copyAs: { command: '', json: '', reproduction: '' },
  }
}
