import type { ApprovalRow } from '@smithers/tool-core/log'
import { sampleTimeMs } from './sample-row.ts'

/** A pending request for approval. */
export function approvalRow(fields: Partial<ApprovalRow>): ApprovalRow {
  return {
    id: 'q',
    runId: 'run-1',
    nodeId: 'node-1',
    iteration: 0,
    attempt: 1,
    toolName: 'charge',
    toolCallId: 'call_1',
    callKey: 'key-1',
    inputHash: 'hash-1',
    idempotencyKey: null,
    inputJson: '{"amount":100}',
    inputSchemaJson: null,
    prompt: null,
    defaultsJson: null,
    previewJson: null,
    status: 'pending',
    requestedAtMs: sampleTimeMs,
    expiresAtMs: null,
    decidedAtMs: null,
    decidedBy: null,
    comment: null,
    approvedArgsJson: null,
    ...fields,
  }
}
