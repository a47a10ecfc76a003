import { takesContext } from '../call/definition-warning.ts'
import { OptionChecks, type Given, type Invalid } from '../contract/option-checks.ts'
import type { OptionNames } from '../contract/known-options.ts'
import type {
  ApprovalSettings,
  BreakerSettings,
  CacheOptions,
  CacheSettings,
  GateOptions,
  GateSettings,
  LimitSettings,
  RetryOptions,
  RetrySettings,
} from '../contract/gate-options.ts'

/** What of a tool decides which gates it may have. */
export interface GatedTool {
  readonly name: string
  readonly sideEffect: boolean
  readonly idempotent: boolean
  readonly streams: boolean
  /** Its `execute` declares the context, which holds the idempotency key. */
  readonly takesKey: boolean
}

/** The gates of a tool and how it is retried; both undefined for the many tools that use neither. */
export interface ResolvedGates {
  readonly gates: GateSettings | undefined
  readonly retry: RetrySettings | undefined
}

/**
 * Completes the options of a tool's gates.
 *
 * @throws SmithersError `INVALID_TOOL` for values that are not allowed or do nothing, and for reuse or retries of a tool
 *   that must not run twice.
 */
export function resolveGates(
  tool: GatedTool,
  options: GateOptions<never> | GateOptions<unknown>,
  invalid: Invalid,
): ResolvedGates {
  const given = options as GateOptions<unknown>
  const checks = new OptionChecks(given as Given, invalid)
  const approval = approvalOf(given, checks)
  const limit = limitOf(given, checks)
  const cache = cacheOf(tool, given, checks, invalid)
  const { retry, breaker } = retryOf(tool, given, checks, invalid)
  const some = approval ?? limit ?? cache ?? breaker
  return {
    gates: some === undefined ? undefined : Object.freeze({ approval, limit, cache, breaker }),
    retry,
  }
}

function approvalOf(
  options: GateOptions<unknown>,
  checks: OptionChecks,
): ApprovalSettings | undefined {
  const { needsApproval = false, approvalPrompt, approvalDefaults, approvalTtlMs } = options
  const { approvalPreview } = options
  if (typeof needsApproval !== 'boolean' && typeof needsApproval !== 'function') {
    throw checks.wrong('needsApproval', 'true, false or a function of the arguments')
  }
  for (const name of ['approvalPrompt', 'approvalDefaults', 'approvalTtlMs']) {
    checks.needs(name, 'needsApproval')
  }
  checks.textOrFunction('approvalPrompt')
  checks.synchronous('approvalPrompt', 'approvalDefaults')
  // A tool may bring a preview for the gates that its user adds.
  if (approvalPreview !== undefined && typeof approvalPreview !== 'function') {
    throw checks.wrong('approvalPreview', 'a function of the arguments')
  }
  // Compared with the clock, so that no timer limits it.
  if (approvalTtlMs !== undefined && (typeof approvalTtlMs !== 'number' || !(approvalTtlMs > 0))) {
    throw checks.wrong('approvalTtlMs', 'a positive number of milliseconds')
  }
  if (needsApproval === false) return undefined
  return Object.freeze({
    needed: needsApproval,
    readsContext: needsApproval !== true && takesContext({ execute: needsApproval }),
    prompt: approvalPrompt,
    preview: approvalPreview,
    defaults: defaultsOf(approvalDefaults),
    ttlMs: approvalTtlMs,
  })
}

function defaultsOf(given: GateOptions<unknown>['approvalDefaults']): ApprovalSettings['defaults'] {
  if (given === undefined) return undefined
  return typeof given === 'function' ? (given as (args: unknown) => unknown) : () => given
}

function limitOf(options: GateOptions<unknown>, checks: OptionChecks): LimitSettings | undefined {
  const { maxExecutionsPerRun: most, executionsCounted: counted = 'executions' } = options
  checks.needs('executionsCounted', 'maxExecutionsPerRun')
  checks.oneOf('executionsCounted', ['executions', 'successes'])
  if (most === undefined || most === null) return undefined
  checks.wholeNumber('maxExecutionsPerRun', 0)
  return Object.freeze({ most, counted })
}

const cacheOptions = {
  keyFn: true,
  ttlMs: true,
  scope: true,
} as const satisfies OptionNames<CacheOptions<unknown>>

function cacheOf(
  tool: GatedTool,
  { cache }: GateOptions<unknown>,
  checks: OptionChecks,
  invalid: Invalid,
): CacheSettings | undefined {
  if (cache === undefined || cache === false) return undefined
  if (cache !== true && !isOptions(cache)) {
    throw checks.wrong('cache', 'true, false or { keyFn, ttlMs, scope }')
  }
  const options = cache === true ? {} : cache
  const within = checksWithin('cache', options, cacheOptions, invalid)
  within.functions('keyFn')
  within.synchronous('keyFn')
  within.oneOf('scope', ['run', 'invoke'])
  const { keyFn, ttlMs = Infinity, scope = 'invoke' } = options
  // Compared with the clock, so that no timer limits it.
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0))
    throw within.wrong('ttlMs', 'a number of milliseconds from 0')
  if (tool.sideEffect && !tool.idempotent) {
    throw invalid(
      'cache is for tools whose call may be skipped. This one has a side effect and is not idempotent, so a reused result would stand for an effect that did not happen. Remove cache.',
    )
  }
  if (tool.streams) {
    throw invalid('cache is for tools that answer once. Remove cache, or stop streaming.')
  }
  return ttlMs === 0 ? undefined : Object.freeze({ keyFn, ttlMs, scope })
}

const retryOptions = {
  maxRetries: true,
  backoffMs: true,
  maxBackoffMs: true,
  shouldRetry: true,
  circuitBreakerThreshold: true,
  circuitBreakerCooldownMs: true,
  circuitBreakerScope: true,
} as const satisfies OptionNames<RetryOptions>

function retryOf(
  tool: GatedTool,
  { retry }: GateOptions<unknown>,
  checks: OptionChecks,
  invalid: Invalid,
): { retry: RetrySettings | undefined; breaker: BreakerSettings | undefined } {
  if (retry === undefined) return { retry: undefined, breaker: undefined }
  if (!isOptions(retry)) throw checks.wrong('retry', '{ maxRetries, backoffMs, … }')
  const within = checksWithin('retry', retry, retryOptions, invalid)
  within.wholeNumber('maxRetries', 0)
  within.wholeNumber('circuitBreakerThreshold', 1)
  within.functions('shouldRetry')
  within.synchronous('shouldRetry')
  for (const name of ['backoffMs', 'maxBackoffMs']) within.duration(name, 0)
  for (const name of ['backoffMs', 'maxBackoffMs', 'shouldRetry']) within.needs(name, 'maxRetries')
  within.oneOf('circuitBreakerScope', ['run', 'invoke'])
  for (const name of ['circuitBreakerCooldownMs', 'circuitBreakerScope']) {
    within.needs(name, 'circuitBreakerThreshold')
  }
  const {
    maxRetries = 0,
    backoffMs = 250,
    maxBackoffMs = 30_000,
    shouldRetry,
    circuitBreakerThreshold: threshold,
    circuitBreakerCooldownMs: cooldownMs = 30_000,
    circuitBreakerScope: scope = 'invoke',
  } = retry
  // Compared with the clock, so that no timer limits it.
  if (typeof cooldownMs !== 'number' || !(cooldownMs >= 0)) {
    throw within.wrong('circuitBreakerCooldownMs', 'a number of milliseconds from 0')
  }
  if (maxRetries > 0) {
    if (tool.sideEffect && !tool.idempotent && !tool.takesKey) {
      throw invalid(
        'retry would repeat a side effect that is not idempotent. Take the context, execute: (args, ctx) => …, and pass ctx.idempotencyKey to the service, or remove retry.',
      )
    }
    if (tool.streams) {
      throw invalid(
        'retry is for tools that answer once: what a stream has yielded cannot be taken back. Remove retry.',
      )
    }
  }
  return {
    retry:
      maxRetries === 0
        ? undefined
        : Object.freeze({ maxRetries, backoffMs, maxBackoffMs, shouldRetry }),
    breaker: threshold === undefined ? undefined : Object.freeze({ threshold, cooldownMs, scope }),
  }
}

function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checksWithin(
  name: string,
  options: object,
  known: Readonly<Record<string, true>>,
  invalid: Invalid,
): OptionChecks {
  new OptionChecks(options as Given, (what) => invalid(`${name}: ${what}`)).known(known)
  return new OptionChecks(options as Given, invalid, `${name}.`)
}
