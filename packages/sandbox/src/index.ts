export { createSandbox } from './create-sandbox.ts'
export type {
  Explanation,
  FilePolicy,
  LimitEnforcement,
  RunEnforcement,
  RunOptions,
  RunResult,
  Sandbox,
  SandboxAction,
  SandboxOptions,
  SandboxReport,
  Violation,
} from './sandbox.ts'
export type {
  SandboxSession,
  SessionCommand,
  SessionProcess,
  WritableSessionProcess,
} from './session.ts'
export { createSandboxFiles } from './files/create-sandbox-files.ts'
export type { SandboxFiles, SandboxFilesOptions } from './files/sandbox-files.ts'
export type { DirectoryEntry } from './files/directory-entries.ts'
export type { OpenOptions, SandboxFile } from './files/file-reading.ts'
export type { FileStat, OpenDirectory } from './files/tree-looking.ts'
export type { CommandLimits } from './limits.ts'
export type { CommandCheck, CommandRefusal } from './network/command-policy.ts'
export type { EnvironmentOptions } from './process/environment.ts'
export type { CapturedOutput, OutputStream } from './process/output-buffer.ts'
export type { CommandInput } from './process/command-input.ts'
export type { OutputChunk } from './process/read-output.ts'
export type {
  EnforcedProperties,
  IsolationBackendName,
  IsolationProperty,
  IsolationReport,
  NotEnforced,
} from './isolation/backend.ts'
export { SandboxError, type SandboxErrorCode, type SandboxErrorOptions } from './sandbox-error.ts'
export type { IsolationWish } from './isolation/detect-isolation.ts'
