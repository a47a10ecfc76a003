import { isThenable } from './maybe-promise.ts'

/**
 * A value that a function of the tool's author returned at once.
 *
 * @throws TypeError for a promise, which would be the same nothing for every call.
 */
export function notPromised(value: unknown): unknown {
  if (!isThenable(value)) return value
  // The promise is not awaited, so its failure must not end the process.
  value.then(undefined, () => {})
  throw new TypeError('it returned a promise. It must return its value at once.')
}
