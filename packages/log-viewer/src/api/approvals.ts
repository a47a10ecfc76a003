/** `GET /api/approvals`, `GET /api/approvals?runId=…`: what waits for a decision, oldest first. */
export interface ApprovalsResponse {
  readonly approvals: readonly ApprovalView[]
  readonly version: string
}

/** A request for approval. Every text of it may come from a model. */
export interface ApprovalView {
  readonly id: string
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  readonly attempt: number
  readonly toolName: string
  readonly toolCallId: string
  readonly status: 'pending' | 'approved' | 'rejected' | 'expired' | 'used' | 'superseded'
  /** The question of the tool's author. */
  readonly prompt: string | null
  /** The arguments as the log shows them: mapped, redacted and cut. */
  readonly inputJson: string | null
  /** SHA-256 of the arguments. Send it with a decision: what was shown is what is decided. */
  readonly inputHash: string
  /** JSON Schema of the arguments; null where changed arguments cannot be given here. */
  readonly inputSchemaJson: string | null
  /** The arguments that the tool's author proposes, as JSON. */
  readonly defaultsJson: string | null
  /** What the call would do. Null when the tool shows nothing, and once the request is closed. */
  readonly preview: ApprovalPreview | null
  readonly requestedAtMs: number
  readonly expiresAtMs: number | null
  readonly decidedAtMs: number | null
  readonly decidedBy: string | null
  readonly comment: string | null
  /** The approver changed the arguments. */
  readonly argumentsChanged: boolean
  /**
   * An approval must be confirmed, because the call is not known to be safe to repeat. The page then asks a second time
   * and sends `confirmed: true`.
   */
  readonly mustConfirm: boolean
}

export type ApprovalPreview =
  | { readonly kind: 'text'; readonly text: string }
  /** A unified diff. */
  | { readonly kind: 'patch'; readonly patch: string }

/** `POST /api/approvals/decide`, `Content-Type: application/json`. */
export interface DecideRequest {
  readonly id: string
  /** `inputHash` of the request as it was shown. */
  readonly inputHash: string
  readonly approved: boolean
  readonly comment?: string
  /** Arguments to run with instead. Only with `approved: true`. Checked against the stored schema. */
  readonly approvedArgs?: unknown
  /** The approver was asked twice. Needed to approve a request with `mustConfirm`. */
  readonly confirmed?: boolean
}

export interface DecideResponse {
  readonly approval: ApprovalView
  readonly version: string
}
