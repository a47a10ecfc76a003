import type { CallEffect } from '../errors/smithers-error.ts'

/** `'started'` until the call has finished; a finished row is `'success'` or `'error'`, nothing else. */
export type ToolCallStatus = 'started' | 'success' | 'error'

/** How a row occupies its idempotency key: while it runs, or for good once it has succeeded. */
export type ToolCallClaim = 'inflight' | 'once'

/** Where a side effect lands; files under the sandbox root are visible with `git diff`. */
export type EffectScope = 'workspace' | 'external'

/**
 * One tool call. The first twelve fields are the documented `_smithers_tool_calls`; the rest
 * are extensions that an older table lacks.
 *
 * Invariant: `finishedAtMs === null` exactly when `status === 'started'`.
 */
export interface ToolCallRow {
  /** The workflow run. */
  readonly runId: string
  /** The task that made the call. */
  readonly nodeId: string
  /** Loop iteration, from 0. */
  readonly iteration: number
  /** Attempt of the task, from 1. */
  readonly attempt: number
  /** Position of the call in its attempt, from 1. */
  readonly seq: number
  readonly toolName: string
  /** The arguments as JSON, after `logInput`, redaction and the size limit. */
  readonly inputJson: string | null
  /** The output as JSON, after `logOutput`, redaction and the size limit. */
  readonly outputJson: string | null
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number
  /** Milliseconds since the epoch; null while the call runs. */
  readonly finishedAtMs: number | null
  readonly status: ToolCallStatus
  readonly errorJson: string | null

  /** Unique per row; fences a finish that arrives after the call was taken over. */
  readonly callToken: string
  /** The AI SDK's id of the call. */
  readonly toolCallId: string | null
  readonly idempotencyKey: string | null
  /** SHA-256 (hex) of the canonical, unredacted arguments. */
  readonly inputHash: string | null
  /** Which of several identical calls this is, from 0. */
  readonly occurrence: number
  readonly sideEffect: boolean
  readonly idempotent: boolean
  /** What the call did outside the process; null while it runs. */
  readonly effect: CallEffect | null
  /** `host:pid:startTime` of the process that runs the call. */
  readonly ownerId: string | null
  readonly leaseExpiresAtMs: number | null
  readonly claim: ToolCallClaim | null
  /** `callToken` of the earlier row whose output this call returned. */
  readonly replayOf: string | null
  /** The output was that of an equal call, which the tool's cache held. Older logs lack the field. */
  readonly fromCache?: boolean
  /**
   * True when `outputJson` is the whole output, so that it can stand for it: nothing of it was hidden, cut, mapped or
   * only described. Older logs lack the field.
   */
  readonly outputExact?: boolean
  /**
   * Where the effect of the call lands, as it was when the call was made. Null for a call without a side effect; older
   * logs lack the field, and what they do not say counts as external.
   */
  readonly effectScope?: EffectScope | null
  /** The approval that the call ran with, if it needed one; older logs lack the field. */
  readonly approvalId?: string | null
  /**
   * What the commands of the call asked of the network, where rules open it: JSON of `CallConnections`, redacted, at most
   * 16 KiB. Absent for a call that reported nothing.
   */
  readonly networkJson?: string
  readonly traceId: string | null
  readonly spanId: string | null
}

/**
 * True while a row uses up its approval: it runs, or it ran and did not certainly do nothing. The row of a call that was
 * answered from another row's output uses nothing up.
 */
export function usesApproval(
  row: Pick<ToolCallRow, 'finishedAtMs' | 'status' | 'effect' | 'replayOf'>,
): boolean {
  if (row.finishedAtMs === null) return true
  return row.replayOf === null && (row.status === 'success' || row.effect !== 'none')
}
