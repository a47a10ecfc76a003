import type { ToolCallRow } from '@smithers/tool-core/log'
import type { CallDetail, CallError, ComparedCall } from '../api/call-detail.ts'
import type { CallSummary } from '../api/calls.ts'
import { copyAs } from '../copy/copy-as.ts'
import { recordedInput } from '../copy/recorded-input.ts'
import { approvalOf, type LogReader } from './log-reader.ts'
import { outcomeText } from './outcome-text.ts'
import { readableError } from './readable-error.ts'
import { viewOf } from './read-approvals.ts'

/** What the texts of a call depend on besides the log. */
export interface DetailOptions {
  /** The `--log` argument of commands; null where the program gave none. */
  readonly logArgument: string | null
  /** What a code is appended to for the address of its page; null where there is none. */
  readonly errorDocs: string | null
}

/** One call in full; undefined for a token that the log does not know. */
export async function readCall(
  reader: LogReader,
  callToken: string,
  options: DetailOptions,
): Promise<CallDetail | undefined> {
  const row = await reader.row(callToken)
  if (row === undefined) return undefined
  const approval = approvalOf(row, await reader.approvalsOf(row.runId))
  const sameKey = await callsWithKey(reader, row)
  const original = row.replayOf === null ? undefined : await reader.row(row.replayOf)
  const before = await sameToolBefore(reader, row)
  const earlier = sameKey.filter((other) => isEarlier(other, row)).slice(0, mostEarlier)
  const compared = [...earlier, ...(original ? [original] : []), ...(before ? [before] : [])]
  const summaries = await reader.summaries([row, ...compared])
  const comparedTo = (other: ToolCallRow): ComparedCall =>
    comparison(row, other, summaries[1 + compared.indexOf(other)] as CallSummary)
  const summary = summaries[0] as CallSummary
  const { cut, hidden } = recordedInput(row.inputJson)
  return {
    summary,
    outcomeText: outcomeText(row, summary.outcome),
    toolCallId: row.toolCallId,
    idempotencyKey: row.idempotencyKey,
    inputHash: row.inputHash,
    occurrence: row.occurrence,
    idempotent: row.idempotent,
    effectScope: row.effectScope ?? null,
    ownerId: row.ownerId,
    leaseExpiresAtMs: row.leaseExpiresAtMs,
    traceId: row.traceId,
    spanId: row.spanId,
    inputJson: row.inputJson,
    outputJson: row.outputJson,
    outputExact: row.outputExact === true,
    error: errorOf(row.errorJson, options.errorDocs),
    networkJson: row.networkJson ?? null,
    inputCut: cut,
    inputHidden: hidden,
    approval: approval === undefined ? null : await viewOf(reader, approval),
    replayedOriginal: original === undefined ? null : comparedTo(original),
    sameKey: earlier.map(comparedTo),
    sameKeyCount: Math.max(1, sameKey.length),
    attemptBefore: before === undefined ? null : comparedTo(before),
    copyAs: copyAs(row, options.logArgument),
  }
}

async function callsWithKey(reader: LogReader, row: ToolCallRow): Promise<ToolCallRow[]> {
  const { idempotencyKey } = row
  if (idempotencyKey === null) return []
  const query = { idempotencyKey, order: 'descending', limit: mostOfKey } as const
  return await reader.log.list({ ...query, contentsUpTo: comparedContents })
}

/** The call of the attempt before that comes closest: with equal arguments, else the one at the same position. */
async function sameToolBefore(
  reader: LogReader,
  row: ToolCallRow,
): Promise<ToolCallRow | undefined> {
  const { runId, nodeId, iteration, attempt, toolName } = row
  if (attempt <= 1) return undefined
  const task = { runId, nodeId, iteration, toolName, limit: mostOfKey }
  const before = await reader.log.list({
    ...task,
    attempt: attempt - 1,
    contentsUpTo: comparedContents,
  })
  const equal = before.find(({ inputHash }) => inputHash !== null && inputHash === row.inputHash)
  if (equal !== undefined || before.length === 0) return equal
  const now = await reader.log.list({ ...task, attempt, contentsUpTo: 1 })
  const index = now.findIndex(({ callToken }) => callToken === row.callToken)
  return before[Math.min(Math.max(0, index), before.length - 1)]
}

function comparison(row: ToolCallRow, other: ToolCallRow, summary: CallSummary): ComparedCall {
  const unknown = row.inputHash === null || other.inputHash === null
  return {
    summary,
    inputJson: other.inputJson,
    outputJson: other.outputJson,
    sameArguments: unknown ? null : row.inputHash === other.inputHash,
  }
}

function isEarlier(other: ToolCallRow, row: ToolCallRow): boolean {
  if (other.callToken === row.callToken) return false
  if (other.startedAtMs !== row.startedAtMs) return other.startedAtMs < row.startedAtMs
  return other.attempt < row.attempt || (other.attempt === row.attempt && other.seq < row.seq)
}

function errorOf(errorJson: string | null, errorDocs: string | null): CallError | null {
  const error = readableError(errorJson)
  if (error === null || errorJson === null) return null
  const { code } = error
  const hasPage = code !== null && errorDocs !== null && isOurs.test(code)
  return { ...error, json: errorJson, docsUrl: hasPage ? errorDocs + code : null }
}

const isOurs =
  /^(?:INVALID_(?:INPUT|TOOL)|RUNTIME_UNSUPPORTED|(?:TOOL|WORKFLOW|TASK)_[A-Z_]{1,40})$/

const mostEarlier = 20
const mostOfKey = 200

/** Characters of the contents of other calls that a comparison shows. */
const comparedContents = 65_536
