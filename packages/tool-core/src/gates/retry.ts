import { setTimeout as sleep } from 'node:timers/promises'
import { notPromised } from '../async/not-promised.ts'
import { isSmithersError, SmithersError } from '../errors/smithers-error.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { RetrySettings, ThrownValue } from '../contract/gate-options.ts'

/** The tool's function, tried again as its options say. */
export function withRetries(
  toolName: string,
  settings: RetrySettings,
  execute: (args: unknown, ctx: ToolContext) => unknown,
): (args: unknown, ctx: ToolContext) => Promise<unknown> {
  return (args, ctx) =>
    runWithRetries(
      toolName,
      settings,
      () => ctx.abortSignal,
      () => execute(args, ctx),
    )
}

/**
 * Runs `work` until it succeeds, must not be tried again, or has used up its tries. A pause ends at once when `signal`
 * is aborted.
 *
 * @throws What the last try threw; `INVALID_TOOL` with that as its cause when `shouldRetry` itself threw.
 */
async function runWithRetries(
  toolName: string,
  settings: RetrySettings,
  signal: () => AbortSignal,
  work: () => unknown,
): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    // Most calls succeed, so the policy and its library are for those that do not.
    if (!mayRetry(toolName, settings, error, 1, signal())) throw error
    return await retryAfter(error, toolName, settings, signal(), work)
  }
}

async function retryAfter(
  first: unknown,
  toolName: string,
  settings: RetrySettings,
  signal: AbortSignal,
  work: () => unknown,
): Promise<unknown> {
  const { ExponentialBackoff, halfJitterGenerator, handleWhen, retry } = await import('cockatiel')
  const { maxRetries, backoffMs, maxBackoffMs } = settings
  const pauses = new ExponentialBackoff({
    initialDelay: backoffMs,
    maxDelay: maxBackoffMs,
    generator: halfJitterGenerator,
  })
  let pause: { readonly duration: number; next(context: unknown): typeof pause } | undefined
  let tries = 0
  const policy = retry(
    // The first failure is known; after the last try there is nothing left to decide.
    handleWhen(
      (error) =>
        tries === 1 || (tries <= maxRetries && mayRetry(toolName, settings, error, tries, signal)),
    ),
    { maxAttempts: maxRetries },
  )
  return policy.execute(async () => {
    tries += 1
    // The first try is the one that has already failed.
    if (tries === 1) throw first
    // Paused here and not by the policy, whose pauses cannot be cut short.
    pause = (pause ?? pauses).next(undefined) as NonNullable<typeof pause>
    await sleep(pause.duration, undefined, { signal }).catch(() => signal.throwIfAborted())
    return work()
  })
}

function mayRetry(
  toolName: string,
  { shouldRetry }: RetrySettings,
  error: unknown,
  tries: number,
  signal: AbortSignal,
): boolean {
  if (signal.aborted || (isSmithersError(error) && finalCodes.has(error.code))) return false
  if (shouldRetry === undefined) return true
  try {
    const answer: unknown = notPromised(shouldRetry(error as ThrownValue, tries))
    if (typeof answer === 'boolean') return answer
    const { inspect } = process.getBuiltinModule('node:util')
    throw new TypeError(`it returned ${inspect(answer, { depth: 0 })}, which is not true or false`)
  } catch (thrown) {
    const said = thrown instanceof Error ? thrown.message : String(thrown)
    const effect = isSmithersError(error) ? error.effect : undefined
    throw new SmithersError(
      'INVALID_TOOL',
      `shouldRetry of tool "${toolName}" threw (${said}) when it was asked about this failure: ${error instanceof Error ? error.message : String(error)}`,
      { details: { toolName }, cause: error, ...(effect === undefined ? {} : { effect }) },
    )
  }
}

/** What another try cannot mend. */
const finalCodes: ReadonlySet<string> = new Set([
  'INVALID_INPUT',
  'TOOL_ABORTED',
  'TOOL_CALL_FENCED',
])
