import type { MaybePromise } from '../async/maybe-promise.ts'

/**
 * `'pending'`: waits for a decision. `'approved'`: one call may run with it. `'used'`: a call ran with it.
 * `'superseded'`: the agent made the call again with other arguments, so a decision about these no longer counts.
 * `'rejected'`, `'expired'`, `'used'` and `'superseded'` are final.
 */
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'used' | 'superseded'

/** A request for approval of one call with certain arguments, and the decision. */
export interface ApprovalRow {
  readonly id: string
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  /** The attempt that last requested it. */
  readonly attempt: number
  readonly toolName: string
  /** The AI SDK's id of the call that last requested it. */
  readonly toolCallId: string
  /** The same for the same call in every attempt of the task, and for no other call of the run. */
  readonly callKey: string
  /** SHA-256 (hex) of the canonical, unredacted arguments. The approval serves a call with these alone. */
  readonly inputHash: string
  readonly idempotencyKey: string | null
  /** The arguments as the log shows them: mapped, redacted and cut. */
  readonly inputJson: string | null
  /** JSON Schema of the arguments, so that changed ones can be checked in a process without the tool. */
  readonly inputSchemaJson: string | null
  readonly prompt: string | null
  /** The arguments that the tool's author proposes. */
  readonly defaultsJson: string | null
  /** What the call would do, as JSON: a text, or `{ patch }` with a unified diff. Erased once the request is closed. */
  readonly previewJson: string | null
  readonly status: ApprovalStatus
  /** Milliseconds since the epoch. */
  readonly requestedAtMs: number
  readonly expiresAtMs: number | null
  readonly decidedAtMs: number | null
  readonly decidedBy: string | null
  readonly comment: string | null
  /** The arguments to run with instead of the agent's. Erased once the call has run. */
  readonly approvedArgsJson: string | null
}

/** The fields of an approval that can change. */
export type ApprovalPatch = Partial<
  Omit<ApprovalRow, 'id' | 'runId' | 'nodeId' | 'iteration' | 'toolName' | 'callKey' | 'inputHash'>
>

/** Every given field must match; an empty query matches every approval. */
export interface ApprovalQuery {
  readonly id?: string
  readonly runId?: string
  readonly callKey?: string
  readonly inputHash?: string
  readonly toolCallId?: string
  readonly status?: ApprovalStatus
  /** At most this many. @default 1000 */
  readonly limit?: number
}

/**
 * Where approvals are kept, beside the tool calls and as durable as they are. An optional part of a log, declared as
 * `capabilities.approvals`. A log that has it also honours `approvalId` in `start`.
 */
export interface ApprovalStore {
  /**
   * Stores a request, and supersedes the run's pending and approved ones with the same `callKey` and other arguments,
   * all in one step. When the run has a request with the same `callKey` and `inputHash` that is neither used nor
   * superseded, stores nothing. Resolves to the request that counts: of many at once, one is stored.
   *
   * Superseding erases `approvedArgsJson` and `previewJson`.
   */
  request(row: ApprovalRow): MaybePromise<ApprovalRow>
  /**
   * Changes an approval whose status is still the expected one, in one step; false when it is not, so that one of many
   * deciders wins, and when the change would leave two open requests for the same call and arguments.
   */
  update(id: string, expected: ApprovalStatus, patch: ApprovalPatch): MaybePromise<boolean>
  /** Newest first. */
  list(query: ApprovalQuery): MaybePromise<ApprovalRow[]>
}

/** False for a request that no longer counts for its call: a later one may stand beside it. */
export function isOpenApproval({ status }: Pick<ApprovalRow, 'status'>): boolean {
  return status !== 'used' && status !== 'superseded'
}
