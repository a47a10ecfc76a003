import { SmithersError } from '@smithers/tool-core'

/** How long work may take to stop by itself once its signal is aborted. */
const graceMs = 1000

/**
 * Settles as `work` does, or fails soon after `signal` is aborted: code from elsewhere may not look at the signal, and
 * then an agent that was stopped would wait for it.
 *
 * @throws SmithersError `TOOL_ABORTED` when the work has not stopped within a second; it may still be running.
 */
export async function settleAfterAbort<Value>(
  work: PromiseLike<Value>,
  { signal, toolName }: { readonly signal: AbortSignal; readonly toolName: string },
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    timer = setTimeout(() => reject(ignoredAbort(toolName, signal.reason)), graceMs)
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

function ignoredAbort(toolName: string, cause: unknown): SmithersError {
  return new SmithersError(
    'TOOL_ABORTED',
    `Tool "${toolName}" was aborted and did not stop within ${graceMs} ms. It may still be running; what it did is unknown.`,
    { details: { toolName, graceMs }, cause },
  )
}
