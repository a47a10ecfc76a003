export { defineTool } from './define-tool.ts'
export type { DefineStreamingToolOptions, DefineToolOptions } from './define-tool-options.ts'
export type { AnyDefinedTool, DefinedTool, StreamingTool } from './defined-tool.ts'
export type { KeyContext, KeyOption, OnRetry, PriorCall, Verdict } from './call/tool-definition.ts'
export { getDefinedToolMetadata, type ToolMetadata } from './tool-metadata.ts'
export type { ToolCallOptions } from './tool-call-options.ts'
export {
  type ConversationMessage,
  createToolContext,
  type DurabilitySnapshot,
  type IsolationSetting,
  type TaskContext,
  type ToolContext,
  type ToolContextOptions,
} from './tool-context.ts'
export { getToolContext, runWithToolContext } from './ambient-context.ts'
export { approvalFor, type SdkToolApproval } from './gates/approval-for.ts'
export {
  type ApprovalPlace,
  pendingApprovals,
  resolveToolApproval,
  type ResolveToolApprovalOptions,
} from './gates/resolve-tool-approval.ts'
export type { ApprovalDecision, ApprovalQuestion, OnApproval } from './gates/on-approval.ts'
export type { CacheOptions, GateOptions, RetryOptions, ThrownValue } from './gates/gate-options.ts'
export { withGates } from './with-gates.ts'
export type { RecordedStep } from './refused-calls.ts'
export { createToolRun, type ToolRun, type ToolRunOptions } from './tool-run.ts'
export { retryWarningMarker } from './retry-warning.ts'
export type { RetryWarningMessage } from './warning-message.ts'
export { toolset, type ToolsByName } from './toolset.ts'
export type { RunSafety } from './call/journal-policy.ts'
export type { RedactionOptions } from './call/redaction.ts'
export type { ToolCallEvent } from './call/call-events.ts'
export {
  type CallEffect,
  isSmithersError,
  SmithersError,
  type SmithersErrorCode,
  type SmithersErrorOptions,
} from './smithers-error.ts'
export type {
  FinishPatch,
  MaybePromise,
  PruneQuery,
  RecoverQuery,
  StartOptions,
  StartResult,
  StartRow,
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
export type { RunStateEntry, RunStateStore } from './log/run-state-store.ts'
export type {
  EffectScope,
  ToolCallClaim,
  ToolCallRow,
  ToolCallStatus,
} from './log/tool-call-row.ts'
