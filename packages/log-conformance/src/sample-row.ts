import { randomUUID } from 'node:crypto'
import { currentOwnerId } from '@smithers/tool-core/log'
import type {
  FinishPatch,
  MaybePromise,
  StartOptions,
  StartRow,
  ToolCallLog,
} from '@smithers/tool-core/log'

/** A row as a call of a non-idempotent tool writes it, with fields of one's own. */
export function sampleRow(fields: Partial<StartRow> = {}): StartRow {
  return {
    runId: 'run-1',
    nodeId: 'node-1',
    iteration: 0,
    attempt: 1,
    seq: 1,
    toolName: 'charge',
    inputJson: '{"customer":"alice","amount":100}',
    startedAtMs: sampleTimeMs,
    callToken: randomUUID(),
    toolCallId: 'call_1',
    idempotencyKey: null,
    inputHash: 'a'.repeat(64),
    occurrence: 0,
    sideEffect: true,
    idempotent: false,
    ownerId: currentOwnerId(),
    leaseExpiresAtMs: sampleTimeMs + 60_000,
    replayOf: null,
    traceId: null,
    spanId: null,
    ...fields,
  }
}

/** When sample calls start. Milliseconds since the epoch. */
export const sampleTimeMs = 1_800_000_000_000

/** How a call that succeeded finishes. */
export function success(fields: Partial<FinishPatch> = {}): FinishPatch {
  return {
    status: 'success',
    outputJson: '{"charged":100}',
    errorJson: null,
    effect: 'applied',
    finishedAtMs: sampleTimeMs + 5,
    ...fields,
  }
}

/** How a call that failed finishes. */
export function failure(fields: Partial<FinishPatch> = {}): FinishPatch {
  return {
    status: 'error',
    outputJson: null,
    errorJson: '{"code":"DECLINED","message":"card declined"}',
    effect: 'none',
    finishedAtMs: sampleTimeMs + 5,
    ...fields,
  }
}

/** Starts a call that must be accepted; returns its token. */
export async function mustStart(
  log: ToolCallLog,
  fields: Partial<StartRow> = {},
  options: Partial<StartOptions> = {},
): Promise<string> {
  const row = sampleRow(fields)
  const result = await log.start(row, {
    durability: 'relaxed',
    claim: null,
    ...options,
  })
  if (!result.ok) throw new Error(`start was refused: ${result.reason}`)
  return row.callToken
}

/** A call that starts and succeeds; returns its token. */
export async function mustFinish(
  log: ToolCallLog,
  fields: Partial<StartRow> = {},
): Promise<string> {
  const callToken = await mustStart(log, fields)
  if ((await log.finish(callToken, success())) !== 'ok') throw new Error('finish was fenced')
  return callToken
}

/** Calls a method so that an error thrown at once arrives as a rejection too. */
export async function settled<T>(call: () => MaybePromise<T>): Promise<T> {
  return await call()
}
