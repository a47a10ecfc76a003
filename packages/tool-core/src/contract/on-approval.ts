import type { ApprovalRow } from '../log/approval-store.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolContext } from './task-context.ts'

/** A decision about a request for approval. */
export interface ApprovalDecision {
  readonly approved: boolean
  /**
   * Arguments to run with instead of the agent's; checked with the tool's schema. The call keeps its idempotency key, so
   * every attempt finds it.
   */
  readonly approvedArgs?: unknown
  /** Who decided. */
  readonly decidedBy?: string | undefined
  /** Why. The agent reads it when the call is rejected. */
  readonly comment?: string | undefined
}

/** A request for approval, for the process that runs the agent. */
export interface ApprovalRequest {
  /** The stored request. */
  readonly approval: ApprovalRow
  /** The real arguments, which the store shows only as far as the log may. */
  readonly args: unknown
  /** The arguments that the tool's author proposes. */
  readonly defaults: unknown
  readonly context: ToolContext
  /** Why the arguments of the previous answer were refused. */
  readonly problem: string | undefined
}

/**
 * Decides at once; `undefined` leaves the request pending and pauses the run. Only `approved: true` and `approved: false`
 * decide: any other answer leaves the request pending too, and its error says why.
 */
export type OnApproval = (request: ApprovalRequest) => MaybePromise<ApprovalDecision | undefined>
