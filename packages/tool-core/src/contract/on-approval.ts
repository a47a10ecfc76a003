import type { ApprovalRow } from '../log/approval-store.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolContext } from './task-context.ts'

/** An answer to a question for approval. */
export interface ApprovalDecision {
  readonly approved: boolean
  /**
   * Arguments to run with instead of the agent's; checked with the tool's schema. The idempotency key stays that of the
   * call that was approved, so that every attempt finds it.
   */
  readonly approvedArgs?: unknown
  /** Who decided. */
  readonly decidedBy?: string | undefined
  /** Why. The agent reads it when the call is rejected. */
  readonly comment?: string | undefined
}

/** A question for approval, put to whoever sits before the running process. */
export interface ApprovalQuestion {
  /** As it is stored. */
  readonly approval: ApprovalRow
  /** The real arguments, which the store shows only as far as the log may. */
  readonly args: unknown
  /** The arguments that the tool's author proposes. */
  readonly defaults: unknown
  readonly context: ToolContext
  /** What was wrong with the arguments of the answer before this question. */
  readonly problem: string | undefined
}

/** Answers a question at once; `undefined` leaves it pending and pauses the run. */
export type OnApproval = (question: ApprovalQuestion) => MaybePromise<ApprovalDecision | undefined>
