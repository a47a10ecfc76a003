const fatalErrors = new WeakSet<object>()

/**
 * Notes that an error is one of the run and not of the task: another attempt would meet it again, or do harm. Noted
 * beside the error and not in it, because it is thrown to the user as it is.
 */
export function markFatal<Failure>(error: Failure): Failure {
  if (typeof error === 'object' && error !== null) fatalErrors.add(error)
  return error
}

export function isFatal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && fatalErrors.has(error)
}
