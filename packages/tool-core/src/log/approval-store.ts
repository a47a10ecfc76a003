import type { MaybePromise } from '../async/maybe-promise.ts'

/**
 * `'executed'`: it was approved, and a call has used it. Only `'pending'` and `'approved'` are not final: an approval
 * that was given back by a call that did not run is approved again.
 */
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'expired' | 'executed'

/** One question to whoever approves calls, and the answer. */
export interface ApprovalRow {
  readonly id: string
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  /** The attempt that asked last. */
  readonly attempt: number
  readonly toolName: string
  /** The AI SDK's id of the call that asked last. */
  readonly toolCallId: string
  /** The same for the same call in every attempt of the task, and for no other call of the run. */
  readonly callKey: string
  readonly idempotencyKey: string | null
  /** The arguments as the log shows them: mapped, redacted and cut. */
  readonly inputJson: string | null
  /** JSON Schema of the arguments, so that changed ones can be checked where the tool is not at hand. */
  readonly inputSchemaJson: string | null
  readonly prompt: string | null
  /** The arguments that the tool's author proposes to whoever approves. */
  readonly defaultsJson: string | null
  readonly status: ApprovalStatus
  /** Milliseconds since the epoch. */
  readonly requestedAtMs: number
  readonly expiresAtMs: number | null
  readonly decidedAtMs: number | null
  readonly decidedBy: string | null
  readonly comment: string | null
  /** The arguments to run with instead of the agent's. */
  readonly approvedArgsJson: string | null
  /** `callToken` of the call that used the approval. */
  readonly usedBy: string | null
  /** `host:pid:startTime` of the process of that call. */
  readonly usedByOwner: string | null
  readonly usedAtMs: number | null
}

/** What of an approval can change. */
export type ApprovalPatch = Partial<
  Omit<ApprovalRow, 'id' | 'runId' | 'nodeId' | 'iteration' | 'toolName' | 'callKey'>
>

/** Every given field must match; an empty query matches every approval. */
export interface ApprovalQuery {
  readonly id?: string
  readonly runId?: string
  readonly callKey?: string
  readonly toolCallId?: string
  readonly status?: ApprovalStatus
  /** At most this many. @default 1000 */
  readonly limit?: number
}

/**
 * Where approvals are kept, beside the tool calls and as durable as they are. An optional part of a log, declared as
 * `capabilities.approvals`.
 */
export interface ApprovalStore {
  /**
   * Stores a question, unless the run already has one for the same `callKey` that no call has used; resolves to the one
   * that counts. Of many at once, one is stored.
   */
  request(row: ApprovalRow): MaybePromise<ApprovalRow>
  /**
   * Changes an approval whose status and `usedBy` are still the expected ones, in one step; false when they are not, so
   * that of many deciders one wins, and when a used one would stand beside a newer question for the same call.
   */
  update(
    id: string,
    expected: Pick<ApprovalRow, 'status' | 'usedBy'>,
    patch: ApprovalPatch,
  ): MaybePromise<boolean>
  /** The newest first. */
  list(query: ApprovalQuery): MaybePromise<ApprovalRow[]>
}
