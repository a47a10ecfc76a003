import { randomUUID } from 'node:crypto'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { FinishPatch, StartRow } from '@smithers/tool-core/log'
import { call, succeeded } from '../test/fixtures/call.ts'

/** A call with 300 bytes of input, and everything that a real one has. */
export function benchRow(fields: Partial<StartRow> = {}): StartRow {
  const startedAtMs = Date.now()
  return call({
    runId: 'run-1',
    nodeId: 'node-1',
    inputJson: JSON.stringify({ note: 'x'.repeat(289) }),
    startedAtMs,
    toolCallId: 'call_abcdefghijklmnop',
    idempotencyKey: randomUUID(),
    inputHash: 'a'.repeat(64),
    ownerId: currentOwnerId(),
    leaseExpiresAtMs: startedAtMs + 60_000,
    ...fields,
  })
}

/** Its success, with one kilobyte of output. */
export const benchFinish: FinishPatch = {
  ...succeeded,
  outputJson: JSON.stringify('y'.repeat(1022)),
}
