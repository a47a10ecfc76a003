export { defineTool } from './define/define-tool.ts'
export type { DefineStreamingToolOptions, DefineToolOptions } from './define/define-tool-options.ts'
export type { AnyDefinedTool, DefinedTool, StreamingTool } from './contract/defined-tool.ts'
export type {
  KeyContext,
  KeyOption,
  OnRetry,
  PriorCall,
  Verification,
} from './contract/tool-definition.ts'
export type { ModelBudget } from './contract/model-budget.ts'
export { getDefinedToolMetadata, type ToolMetadata } from './contract/tool-metadata.ts'
export type { ToolCallOptions } from './contract/tool-call-options.ts'
export type {
  ConversationMessage,
  DurabilitySnapshot,
  IsolationOption,
  TaskContext,
  ToolContext,
} from './contract/task-context.ts'
export type {
  HostAnswer,
  HostDecision,
  NetworkAccess,
  OnHostDecision,
} from './contract/network-access.ts'
export {
  type AskedHost,
  HostApprovals,
  type HostPermission,
  type SettledHosts,
} from './approvals/host-approvals.ts'
export { isHostApproval } from './approvals/host-request.ts'
export { recordNetworkUse } from './journal/record-network-use.ts'
export type { EndedConnection, ReportedNetworkUse } from './journal/call-network.ts'
export { type AttemptContext, createToolContext } from './context/create-tool-context.ts'
export type { ToolContextOptions } from './contract/run-options.ts'
export { onRunEnd } from './context/run-end.ts'
export { getToolContext, runWithToolContext } from './context/ambient-context.ts'
export { approvalFor, type SdkToolApproval } from './approvals/approval-for.ts'
export {
  type ApprovalLocation,
  pendingApprovals,
  resolveToolApproval,
  type ResolveToolApprovalOptions,
} from './approvals/resolve-tool-approval.ts'
export type { ApprovalDecision, ApprovalRequest, OnApproval } from './contract/on-approval.ts'
export type {
  CacheOptions,
  GateOptions,
  RetryOptions,
  ThrownValue,
} from './contract/gate-options.ts'
export { withGates } from './define/with-gates.ts'
export type { RecordedStep } from './run/record-invalid-calls.ts'
export { adoptError, disownError } from './journal/error-effect.ts'
export type { AgentOfRun, RunnableAgent } from './run/run-agent.ts'
export { createToolRun, type ToolRun, type ToolRunOptions } from './run/tool-run.ts'
export { retryWarningMarker } from './history/retry-warning.ts'
export type { RetryWarningMessage } from './run/warning-message.ts'
export { toolset, type ToolsByName } from './define/toolset.ts'
export {
  type CallTelemetry,
  type CallTelemetryEvents,
  type FinishedCall,
  type PartAttributes,
  type PartTelemetry,
  registerToolTelemetry,
  type ToolTelemetry,
  type TraceContext,
  type TracedCall,
  type TracedOutcome,
  type TracedWork,
  type WorkTelemetry,
} from './contract/telemetry.ts'
export { type CallPart, beginCallPart } from './journal/call-part.ts'
export { traceWork } from './journal/trace-work.ts'
export type { RunSafety } from './contract/journal-options.ts'
export { type Fingerprint, fingerprint } from './json/fingerprint.ts'
export type { RedactionOptions } from './json/redaction.ts'
export type { ToolCallEvent } from './journal/call-events.ts'
export {
  type CallEffect,
  isSmithersError,
  SmithersError,
  type SmithersErrorCode,
  type SmithersErrorOptions,
} from './errors/smithers-error.ts'
export type { MaybePromise } from './async/maybe-promise.ts'
export type { CallConnections, RecordedConnection } from './log/call-connections.ts'
export type {
  FinishPatch,
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
export type {
  CallMatches,
  CallSearch,
  ErrorCount,
  LoggedRun,
  LoggedRunCursor,
  LoggedRunQuery,
} from './log/log-browsing.ts'
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
