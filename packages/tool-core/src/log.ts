// What an adapter of the log needs, and nothing else: types and pure helpers.
export type { MaybePromise } from './async/maybe-promise.ts'
export type { CallConnections, RecordedConnection } from './log/call-connections.ts'
export type {
  FinishPatch,
  PruneQuery,
  RecoverQuery,
  StartOptions,
  StartResult,
  StartRow,
  TaskAttempt,
  ToolCallCursor,
  ToolCallLog,
  ToolCallLogCapabilities,
  ToolCallQuery,
} from './log/tool-call-log.ts'
export type {
  ApprovalPatch,
  ApprovalQuery,
  ApprovalRow,
  ApprovalStatus,
  ApprovalStore,
} from './log/approval-store.ts'
export { archiveKey, type ArchivedOutput } from './log/archived-output.ts'
export type {
  CallMatches,
  CallSearch,
  ErrorCount,
  ErrorGroup,
  LoggedRun,
  LoggedRunCursor,
  LoggedRunQuery,
} from './log/log-browsing.ts'
export {
  codeOfHead,
  countErrors,
  defaultExamined,
  defaultRunLimit,
  errorHeadLength,
  runOrder,
} from './log/log-browsing.ts'
export { runsOfRows } from './log/runs-of-rows.ts'
export {
  rowHasText,
  searchedFields,
  searchNeedles,
  type SearchNeedles,
  withContentsUpTo,
} from './log/search-rows.ts'
export type { RunStateEntry, RunStateStore } from './log/run-state-store.ts'
export type {
  AttemptEnd,
  AttemptRow,
  AttemptStart,
  ClaimRequest,
  ClaimResult,
  Fenced,
  LoopRow,
  RunEnd,
  RunQuery,
  RunRow,
  RunStatus,
  RunStore,
  TaskRow,
} from './log/run-store.ts'
export type {
  EffectScope,
  ToolCallClaim,
  ToolCallRow,
  ToolCallStatus,
} from './log/tool-call-row.ts'
export { usesApproval } from './log/tool-call-row.ts'
export { isOpenApproval } from './log/approval-store.ts'
export {
  defaultListLimit,
  equalFields,
  isTaskListing,
  listLimit,
  selectRows,
} from './log/listing.ts'
export { boundedLog, markPrompt } from './log/bounded-log.ts'
export { isAbandoned, isOrphan, outcomeUnknown } from './log/orphan.ts'
export { nowOf } from './log/log-clock.ts'
export { type LeaseMoment, leaseMoment, LeaseTimer } from './log/lease-timer.ts'
export { isRunFree } from './log/run-lease.ts'
export { currentOwnerId, heldHere, isOwnerGone } from './log/process-owner.ts'
export { isSmithersError, SmithersError } from './errors/smithers-error.ts'
