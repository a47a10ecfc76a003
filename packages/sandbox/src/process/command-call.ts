import type { ResolvedLimits } from '../options/limits.ts'
import type { RunOptions } from './run-types.ts'
import type { RunHooks } from './supervise.ts'

/** One command as it was asked for, with its options resolved. */
export interface CommandCall {
  readonly argv: readonly [string, ...string[]]
  readonly options: RunOptions
  readonly limits: ResolvedLimits
  readonly hooks: RunHooks
  /** Aborted when the sandbox is closed. */
  readonly closing: AbortSignal
}
