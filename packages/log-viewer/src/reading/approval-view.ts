import type { ApprovalRow } from '@smithers/tool-core/log'
import type { ApprovalPreview, ApprovalView } from '../api/approvals.ts'

/** A request for approval as the page shows it. */
export function approvalView(row: ApprovalRow, isSafeToRepeat: boolean): ApprovalView {
  return {
    id: row.id,
    runId: row.runId,
    nodeId: row.nodeId,
    iteration: row.iteration,
    attempt: row.attempt,
    toolName: row.toolName,
    toolCallId: row.toolCallId,
    status: row.status,
    prompt: row.prompt,
    inputJson: row.inputJson,
    inputHash: row.inputHash,
    inputSchemaJson: row.inputSchemaJson,
    defaultsJson: row.defaultsJson,
    preview: previewOf(row.previewJson),
    requestedAtMs: row.requestedAtMs,
    expiresAtMs: row.expiresAtMs,
    decidedAtMs: row.decidedAtMs,
    decidedBy: row.decidedBy,
    comment: row.comment,
    argumentsChanged: row.approvedArgsJson !== null,
    mustConfirm: !isSafeToRepeat,
  }
}

function previewOf(json: string | null): ApprovalPreview | null {
  if (json === null) return null
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return { kind: 'text', text: json }
  }
  if (typeof value === 'string') return { kind: 'text', text: value }
  const patch = (value as { readonly patch?: unknown } | null)?.patch
  return typeof patch === 'string' ? { kind: 'patch', patch } : { kind: 'text', text: json }
}
