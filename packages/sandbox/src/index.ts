import { assertSupportedRuntime } from './errors/supported-runtime.ts'

// At import, before anything depends on it.
assertSupportedRuntime()

export { createSandbox } from './create-sandbox.ts'
export type {
  Explanation,
  Sandbox,
  SandboxAction,
  SandboxOptions,
  SandboxReport,
} from './sandbox.ts'
export type {
  LimitEnforcement,
  RunEnforcement,
  RunOptions,
  RunResult,
} from './process/run-types.ts'
export type { FilePolicy } from './files/file-policy.ts'
export type {
  NetworkAnswer,
  NetworkLimits,
  NetworkOptions,
  OnNetworkDecision,
} from './egress/network-options.ts'
export {
  type HostSource,
  hostsOf,
  type HostsOfOptions,
  type ToolHosts,
} from './egress/tool-hosts/hosts-of.ts'
export type { SkippedSource } from './egress/tool-hosts/outside-sources.ts'
export type { NetworkDecisionEvent } from './process/network-use.ts'
export type { NetworkDecision, NetworkReason, NetworkUse } from './egress/network-record.ts'
export type { Violation } from './path-rules/violation.ts'
export type { ViolationEvent } from './process/run-result.ts'
export type {
  SandboxSession,
  SessionCommand,
  SessionProcess,
  WritableSessionProcess,
} from './ai-sdk-session/session-types.ts'
export { createSandboxFiles } from './files/create-sandbox-files.ts'
export type { SandboxFiles, SandboxFilesOptions } from './files/sandbox-files.ts'
export type { DirectoryEntry } from './files/operations/directory-entries.ts'
export type { OpenOptions, SandboxFile } from './files/operations/open-and-read.ts'
export type { FileStat, OpenDirectory } from './files/operations/stat-and-list.ts'
export type { CommandLimits } from './options/limits.ts'
export type { CommandCheck, CommandRefusal } from './command-policy/command-policy.ts'
export type { EnvironmentOptions } from './process/environment.ts'
export type { CapturedOutput } from './process/output/output-buffer.ts'
export type { OutputStream } from './isolation/running-command.ts'
export type { CommandInput } from './process/supervise.ts'
export type { OutputChunk } from './process/output/read-output.ts'
export type {
  EnforcedProperties,
  IsolationBackendName,
  IsolationProperty,
  IsolationReport,
  NotEnforced,
} from './isolation/backend.ts'
export {
  SandboxError,
  type SandboxErrorCode,
  type SandboxErrorOptions,
} from './errors/sandbox-error.ts'
export type { IsolationOption } from './isolation/detect-isolation.ts'
