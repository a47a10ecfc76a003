import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolContext } from './task-context.ts'

/** What a tool threw, as `shouldRetry` sees it: anything can be thrown, so every property may be missing. */
export type ThrownValue =
  | {
      readonly name?: string
      readonly message?: string
      readonly code?: unknown
      readonly status?: unknown
      readonly cause?: unknown
    }
  | null
  | undefined

/** How results are reused instead of running the tool again. */
export interface CacheOptions<Args> {
  /** What makes two calls the same; any JSON value. @default the arguments */
  readonly keyFn?: ((args: Args) => unknown) | undefined
  /** How long a result is reused, in milliseconds; 0 means not at all. @default as long as the scope lasts */
  readonly ttlMs?: number | undefined
  /** Who shares results: one attempt of one task (`'invoke'`), or all tasks of the run. @default 'invoke' */
  readonly scope?: 'run' | 'invoke' | undefined
}

/** How a failing tool is tried again. */
export interface RetryOptions {
  /** Tries after the first. @default 0 */
  readonly maxRetries?: number | undefined
  /** The first pause, in milliseconds; it doubles with each try. Half of every pause is random. @default 250 */
  readonly backoffMs?: number | undefined
  /** The longest pause, in milliseconds. @default 30_000 */
  readonly maxBackoffMs?: number | undefined
  /** Whether to try again after try number `attempt`, from 1. @default every error but an abort */
  readonly shouldRetry?: ((error: ThrownValue, attempt: number) => boolean) | undefined
  /** Refuse calls after this many calls in a row have failed. @default never */
  readonly circuitBreakerThreshold?: number | undefined
  /**
   * How long calls are refused before one is tried, in milliseconds; `Infinity` for the rest of the scope.
   *
   * @default 30_000
   */
  readonly circuitBreakerCooldownMs?: number | undefined
  /**
   * Whose failures open the breaker, and whose calls it then refuses: those of one attempt of one task (`'invoke'`), or
   * of all tasks of the run in this process.
   *
   * @default 'invoke'
   */
  readonly circuitBreakerScope?: 'run' | 'invoke' | undefined
}

/** Options of a tool that decide whether a call runs, and how often. */
export interface GateOptions<Args> {
  /**
   * Whether a call needs approval before it runs. Only `false` means no: a function that throws, or returns anything
   * but a boolean, has allowed nothing.
   *
   * @default false
   */
  readonly needsApproval?:
    | boolean
    | ((args: Args, ctx: ToolContext) => MaybePromise<boolean>)
    | undefined
  /**
   * What the approver is asked. In a text, `{{name}}` is replaced by an argument as the log shows it. What a function
   * returns is stored as it is.
   */
  readonly approvalPrompt?: string | ((args: Args) => string) | undefined
  /** Arguments proposed to the approver in place of the agent's. */
  readonly approvalDefaults?: Partial<Args> | ((args: Args) => Partial<Args>) | undefined
  /**
   * Shows the approver what the call would do: a text, or `{ patch }` with a unified diff. Stored with the request,
   * redacted and cut to 64 KiB, and erased once the call has run or the request is closed.
   */
  readonly approvalPreview?:
    | ((args: Args, ctx: ToolContext) => MaybePromise<string | { readonly patch: string }>)
    | undefined
  /** How long an approval can be given, in milliseconds; afterwards the call counts as rejected. @default forever */
  readonly approvalTtlMs?: number | undefined
  /** Most executions in one run, also in parallel; 0 forbids the tool. @default no limit */
  readonly maxExecutionsPerRun?: number | null | undefined
  /** What counts towards the limit. @default 'executions' */
  readonly executionsCounted?: 'executions' | 'successes' | undefined
  /** Reuse results of equal calls; of equal calls in parallel one runs. @default false */
  readonly cache?: boolean | CacheOptions<Args> | undefined
  /** Try again when the tool fails. @default never */
  readonly retry?: RetryOptions | undefined
}

/** {@link CacheOptions}, complete. */
export interface CacheSettings {
  readonly keyFn: ((args: unknown) => unknown) | undefined
  readonly ttlMs: number
  readonly scope: 'run' | 'invoke'
}

/** {@link RetryOptions} without the breaker, complete. */
export interface RetrySettings {
  readonly maxRetries: number
  readonly backoffMs: number
  readonly maxBackoffMs: number
  readonly shouldRetry: ((error: ThrownValue, attempt: number) => boolean) | undefined
}

/** The breaker's part of {@link RetryOptions}, complete. */
export interface BreakerSettings {
  readonly threshold: number
  readonly cooldownMs: number
  readonly scope: 'run' | 'invoke'
}

/** What concerns approval, complete. */
export interface ApprovalSettings {
  readonly needed: true | ((args: unknown, ctx: ToolContext) => MaybePromise<boolean>)
  /** `needed` looks at the context, which is not made for one that does not. */
  readonly readsContext: boolean
  readonly prompt: string | ((args: unknown) => string) | undefined
  readonly preview: ((args: unknown, ctx: ToolContext) => unknown) | undefined
  readonly defaults: ((args: unknown) => unknown) | undefined
  readonly ttlMs: number | undefined
}

/** What concerns the number of executions, complete. */
export interface LimitSettings {
  readonly most: number
  readonly counted: 'executions' | 'successes'
}

/** The gates of a tool, resolved; a gate that is not used is undefined. */
export interface GateSettings {
  readonly approval: ApprovalSettings | undefined
  readonly limit: LimitSettings | undefined
  readonly cache: CacheSettings | undefined
  readonly breaker: BreakerSettings | undefined
}
