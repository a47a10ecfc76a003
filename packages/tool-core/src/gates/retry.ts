import { setTimeout as sleep } from 'node:timers/promises'
import { notPromised } from '../async/not-promised.ts'
import { depart, departuresUntilNow, effectOfError } from '../journal/error-effect.ts'
import { recordOf } from '../journal/record-network-use.ts'
import type { CallTelemetryEvents } from '../contract/telemetry.ts'
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
      (retry) => recordOf(ctx)?.trace?.event('retry', retry),
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
  signalOf: () => AbortSignal,
  onRetry: (retry: CallTelemetryEvents['retry']) => void,
  work: () => unknown,
): Promise<unknown> {
  let mayHaveTakenEffect = false
  for (let tries = 1; ; tries += 1) {
    const since = departuresUntilNow()
    try {
      return await work()
    } catch (error) {
      // Most calls succeed, so their signal is not even made.
      const signal = signalOf()
      const isLast = tries > settings.maxRetries
      if (isLast || !mayRetry(toolName, settings, error, tries, signal)) {
        // "No effect" of the last try says nothing about the tries before.
        if (mayHaveTakenEffect) depart(error)
        throw error
      }
      const reasons = [signal.reason]
      mayHaveTakenEffect ||= effectOfError(error, { since, reasons }) !== 'none'
      const delayMs = pauseMs(settings, tries)
      onRetry({ tries, delayMs })
      await pause(delayMs, signal)
    }
  }
}

/** Doubles with each try up to the longest; half of it is random, so that callers do not try again all at once. */
function pauseMs({ backoffMs, maxBackoffMs }: RetrySettings, tries: number): number {
  const longest = Math.min(backoffMs * 2 ** (tries - 1), maxBackoffMs)
  return (longest / 2) * (1 + Math.random())
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
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
