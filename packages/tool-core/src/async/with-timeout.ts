/** How long to wait for work that may never end, and what to throw then. */
export interface TimeoutOptions {
  /** Milliseconds; undefined for no limit. */
  readonly timeoutMs: number | undefined
  readonly timedOut: (timeoutMs: number) => unknown
  readonly signal?: AbortSignal | undefined
  readonly aborted?: (reason: unknown) => unknown
}

/** Settles as the work does, or fails when time is up or the signal is aborted. The work itself is not stopped. */
export function withTimeout<Value>(
  work: PromiseLike<Value>,
  patience: TimeoutOptions,
): Promise<Value> {
  const { timeoutMs, timedOut, signal, aborted } = patience
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs)
  const stop = (): void => reject(aborted?.(signal?.reason) ?? signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted === true) stop()
  // Always listened to, so that a later failure is not an unhandled rejection.
  work.then(resolve, reject)
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  })
}
