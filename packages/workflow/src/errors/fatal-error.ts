const fatalErrors = new WeakSet<object>()

/**
 * Marks an error as one of the run, not of the task: another attempt would meet it again or do harm. The mark is kept
 * outside the error, which is thrown to the user unchanged.
 */
export function markFatal<Failure>(error: Failure): Failure {
  if (typeof error === 'object' && error !== null) fatalErrors.add(error)
  return error
}

export function isFatal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && fatalErrors.has(error)
}
