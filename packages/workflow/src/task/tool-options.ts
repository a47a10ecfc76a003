import type { ToolRunOptions } from '@smithers/tool-core'

/** Options that reach every tool in every attempt and every turn. */
export interface TaskToolOptions extends Omit<
  ToolRunOptions,
  'runId' | 'nodeId' | 'iteration' | 'attempt' | 'timeoutMs' | 'abortSignal' | 'lineage'
> {
  /** Time limit of the processes that tools start, in milliseconds. @default 60_000 */
  readonly toolTimeoutMs?: number | undefined
  /**
   * Idempotency keys of calls that may run once although an earlier call may have had the same effect. Overrides
   * `onRetry: 'block'`, whose error `TOOL_CALL_BLOCKED` names the key.
   *
   * @default []
   */
  readonly allow?: readonly string[] | undefined
}

/** The names of all {@link TaskToolOptions}. */
export const toolOptionNames: Readonly<Record<keyof TaskToolOptions, true>> = {
  rootDir: true,
  protectedPaths: true,
  allowNetwork: true,
  network: true,
  maxOutputBytes: true,
  toolTimeoutMs: true,
  isolation: true,
  log: true,
  durabilitySnapshot: true,
  namespace: true,
  keyScope: true,
  keySecret: true,
  safety: true,
  redact: true,
  maxInputBytes: true,
  errorStacks: true,
  leaseMs: true,
  onLogError: true,
  maxInlineOutputBytes: true,
  onApproval: true,
  maxWarningBytes: true,
  previews: true,
  recordContents: true,
  telemetry: true,
  logTimeoutMs: true,
  approvalTimeoutMs: true,
  allow: true,
}
