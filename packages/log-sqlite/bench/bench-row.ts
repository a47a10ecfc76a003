import { randomUUID } from 'node:crypto'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { FinishPatch, StartRow } from '@smithers/tool-core/log'

/** A call with 300 bytes of input. */
export function benchRow(fields: Partial<StartRow> = {}): StartRow {
  return {
    runId: 'run-1',
    nodeId: 'node-1',
    iteration: 0,
    attempt: 1,
    seq: 1,
    toolName: 'charge',
    inputJson: JSON.stringify({ note: 'x'.repeat(289) }),
    startedAtMs: Date.now(),
    callToken: randomUUID(),
    toolCallId: 'call_abcdefghijklmnop',
    idempotencyKey: randomUUID(),
    inputHash: 'a'.repeat(64),
    occurrence: 0,
    sideEffect: true,
    idempotent: false,
    ownerId: currentOwnerId(),
    leaseExpiresAtMs: Date.now() + 60_000,
    replayOf: null,
    traceId: null,
    spanId: null,
    ...fields,
  }
}

/** Its success, with one kilobyte of output. */
export const benchFinish: FinishPatch = {
  status: 'success',
  outputJson: JSON.stringify('y'.repeat(1022)),
  errorJson: null,
  effect: 'applied',
  finishedAtMs: 1_800_000_000_000,
}
