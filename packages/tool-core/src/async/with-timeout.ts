import { isThenable, type MaybePromise } from './maybe-promise.ts'

/** How long to wait for work that may never end, and what to throw then. */
export interface TimeoutOptions {
  /** Milliseconds; undefined for no limit. */
  readonly timeoutMs: number | undefined
  readonly timedOut: (timeoutMs: number) => unknown
  readonly signal?: AbortSignal | undefined
  readonly aborted?: (reason: unknown) => unknown
  /** How much longer to wait once the signal is aborted, in milliseconds. @default 0 */
  readonly graceMs?: number
}

/** Settles as the work does, or fails when time is up or the signal is aborted. The work itself is not stopped. */
export function withTimeout<Value>(
  work: PromiseLike<Value>,
  patience: TimeoutOptions,
): Promise<Value> {
  const { timeoutMs, timedOut, signal, aborted, graceMs = 0 } = patience
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const timer =
    timeoutMs === undefined ? undefined : setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs)
  let grace: NodeJS.Timeout | undefined
  const end = (): void => reject(aborted?.(signal?.reason) ?? signal?.reason)
  const stop = (): void => {
    if (graceMs === 0) end()
    else grace = setTimeout(end, graceMs)
  }
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted === true) stop()
  // Always listened to, so that a later failure is not an unhandled rejection.
  work.then(resolve, reject)
  return promise.finally(() => {
    clearTimeout(timer)
    clearTimeout(grace)
    signal?.removeEventListener('abort', stop)
  })
}

/** A value at once, or its promise within a time limit. */
export function inTime<Value>(
  value: MaybePromise<Value>,
  timeoutMs: number,
  timedOut: (timeoutMs: number) => unknown,
): MaybePromise<Value> {
  return isThenable(value) ? withTimeout(value, { timeoutMs, timedOut }) : value
}
