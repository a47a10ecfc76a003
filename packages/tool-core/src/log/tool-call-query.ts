import type { ToolCallRow, ToolCallStatus } from './tool-call-row.ts'

/** Where the next page of a listing begins: the last row of the page before. */
export type ToolCallCursor = Pick<ToolCallRow, 'attempt' | 'seq' | 'startedAtMs' | 'callToken'>

/** Every given field must match; an empty query matches every row. */
export interface ToolCallQuery {
  readonly runId?: string
  readonly nodeId?: string
  readonly iteration?: number
  readonly attempt?: number
  /** Only attempts before this one. */
  readonly beforeAttempt?: number
  readonly toolName?: string
  readonly status?: ToolCallStatus
  readonly idempotencyKey?: string
  readonly toolCallId?: string
  readonly callToken?: string
  readonly inputHash?: string
  readonly approvalId?: string
  /** `startedAtMs` at or after this. */
  readonly startedFromMs?: number
  /** `startedAtMs` before this. */
  readonly startedBeforeMs?: number
  /** At most this many rows. @default 1000 */
  readonly limit?: number
  /** Rows after this one in the order of the listing. */
  readonly after?: ToolCallCursor
  /** @default 'ascending' */
  readonly order?: 'ascending' | 'descending'
  /**
   * Arguments, output, error and network use are cut to so many characters, for a program that shows many calls. What was
   * cut is seldom valid JSON.
   *
   * @default whole
   */
  readonly contentsUpTo?: number
}
