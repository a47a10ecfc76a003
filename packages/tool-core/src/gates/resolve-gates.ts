import { takesContext } from '../call/definition-warning.ts'
import { SmithersError } from '../smithers-error.ts'
import type {
  ApprovalSettings,
  BreakerSettings,
  CacheSettings,
  GateOptions,
  GateSettings,
  LimitSettings,
  RetrySettings,
} from './gate-options.ts'

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
 * @throws SmithersError `INVALID_TOOL` for values out of range, and for reuse or retries of a tool that must not run twice.
 */
export function resolveGates(
  tool: GatedTool,
  options: GateOptions<never> | GateOptions<unknown>,
): ResolvedGates {
  const given = options as GateOptions<unknown>
  const invalid = (message: string): SmithersError =>
    new SmithersError('INVALID_TOOL', `Tool "${tool.name}": ${message}`, {
      details: { toolName: tool.name },
    })
  const approval = approvalOf(given, invalid)
  const limit = limitOf(given, invalid)
  const cache = cacheOf(tool, given, invalid)
  const { retry, breaker } = retryOf(tool, given, invalid)
  const some = approval ?? limit ?? cache ?? breaker
  return {
    gates: some === undefined ? undefined : Object.freeze({ approval, limit, cache, breaker }),
    retry,
  }
}

type Invalid = (message: string) => SmithersError

function approvalOf(options: GateOptions<unknown>, invalid: Invalid): ApprovalSettings | undefined {
  const { needsApproval = false, approvalPrompt, approvalDefaults, approvalTtlMs } = options
  if (typeof needsApproval !== 'boolean' && typeof needsApproval !== 'function') {
    throw invalid('needsApproval must be a boolean or a function of the arguments.')
  }
  if (approvalTtlMs !== undefined && !(approvalTtlMs > 0)) {
    throw invalid(`approvalTtlMs must be a positive number of milliseconds, got ${approvalTtlMs}.`)
  }
  if (needsApproval === false) return undefined
  return Object.freeze({
    needed: needsApproval,
    readsContext: needsApproval !== true && takesContext({ execute: needsApproval }),
    prompt: approvalPrompt,
    defaults: defaultsOf(approvalDefaults),
    ttlMs: approvalTtlMs,
  })
}

function defaultsOf(given: GateOptions<unknown>['approvalDefaults']): ApprovalSettings['defaults'] {
  if (given === undefined) return undefined
  return typeof given === 'function' ? (given as (args: unknown) => unknown) : () => given
}

function limitOf(options: GateOptions<unknown>, invalid: Invalid): LimitSettings | undefined {
  const { maxExecutionsPerRun: most, executionsCounted: counted = 'executions' } = options
  if (most === undefined || most === null) return undefined
  if (!Number.isSafeInteger(most) || most < 0) {
    throw invalid(`maxExecutionsPerRun must be a whole number from 0, got ${most}.`)
  }
  if (!['executions', 'successes'].includes(counted)) {
    throw invalid(`executionsCounted must be 'executions' or 'successes', got '${counted}'.`)
  }
  return Object.freeze({ most, counted })
}

function cacheOf(
  tool: GatedTool,
  { cache }: GateOptions<unknown>,
  invalid: Invalid,
): CacheSettings | undefined {
  if (cache === undefined || cache === false) return undefined
  const { keyFn, ttlMs = Infinity, scope = 'invoke' } = cache === true ? {} : cache
  if (tool.sideEffect && !tool.idempotent) {
    throw invalid(
      'cache is for tools whose call may be skipped. This one has a side effect and is not idempotent, so a reused result would stand for an effect that did not happen. Remove cache.',
    )
  }
  if (tool.streams)
    throw invalid('cache is for tools that answer once. Remove cache, or stop streaming.')
  if (!(ttlMs >= 0))
    throw invalid(`cache.ttlMs must be a number of milliseconds from 0, got ${ttlMs}.`)
  if (scope !== 'run' && scope !== 'invoke') {
    throw invalid(`cache.scope must be 'run' or 'invoke', got '${String(scope)}'.`)
  }
  return ttlMs === 0 ? undefined : Object.freeze({ keyFn, ttlMs, scope })
}

function retryOf(
  tool: GatedTool,
  { retry }: GateOptions<unknown>,
  invalid: Invalid,
): { retry: RetrySettings | undefined; breaker: BreakerSettings | undefined } {
  if (retry === undefined) return { retry: undefined, breaker: undefined }
  const {
    maxRetries = 0,
    backoffMs = 250,
    maxBackoffMs = 30_000,
    shouldRetry,
    circuitBreakerThreshold: threshold,
    circuitBreakerCooldownMs: cooldownMs = 30_000,
  } = retry
  if (!Number.isSafeInteger(maxRetries) || maxRetries < 0) {
    throw invalid(`retry.maxRetries must be a whole number from 0, got ${maxRetries}.`)
  }
  for (const [name, value] of Object.entries({
    backoffMs,
    maxBackoffMs,
    circuitBreakerCooldownMs: cooldownMs,
  })) {
    if (!(value >= 0 && value <= longestTimerMs)) {
      throw invalid(
        `retry.${name} must be a number of milliseconds from 0 to ${longestTimerMs}, got ${value}.`,
      )
    }
  }
  if (threshold !== undefined && (!Number.isSafeInteger(threshold) || threshold < 1)) {
    throw invalid(`retry.circuitBreakerThreshold must be a whole number from 1, got ${threshold}.`)
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
    breaker: threshold === undefined ? undefined : Object.freeze({ threshold, cooldownMs }),
  }
}

/** What `setTimeout` can wait for; it takes anything longer for 1 ms. */
const longestTimerMs = 2_147_483_647
