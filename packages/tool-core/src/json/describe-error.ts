/** The plain form of an error: name, code, message, details and causes; its stack only when asked. */
export function describeError(
  error: unknown,
  stacks: boolean,
  depth: number,
): Record<string, unknown> {
  try {
    return describeReadable(error, stacks, depth)
  } catch {
    // A getter throws: the record says at least that something failed.
    return { name: 'Error', message: 'Something was thrown that cannot be read.' }
  }
}

function describeReadable(error: unknown, stacks: boolean, depth: number): Record<string, unknown> {
  if (!(error instanceof Error)) return describeThrown(error)
  const { code, details, logMessage } = error as Partial<Record<string, unknown>> & Error
  return {
    name: error.name,
    ...(code === undefined ? {} : { code }),
    message: typeof logMessage === 'string' ? logMessage : error.message,
    ...(details === undefined ? {} : { details }),
    // A stack begins with the message.
    ...(stacks && error.stack !== undefined && logMessage === undefined
      ? { stack: error.stack }
      : {}),
    ...(error.cause === undefined || depth >= 4
      ? {}
      : { cause: describeError(error.cause, stacks, depth + 1) }),
    ...(error instanceof AggregateError && depth < 4
      ? { errors: describeAll(error.errors, stacks, depth + 1) }
      : {}),
  }
}

/** Anything can be thrown, such as the plain object that a client makes of a failed request. */
function describeThrown(thrown: unknown): Record<string, unknown> {
  if (typeof thrown !== 'object' || thrown === null)
    return { name: 'Error', message: String(thrown) }
  const { name, code, message } = thrown as Partial<Record<string, unknown>>
  return {
    name: typeof name === 'string' ? name : 'Error',
    ...(code === undefined ? {} : { code }),
    message: typeof message === 'string' ? message : 'Something was thrown that is not an Error.',
    details: thrown,
  }
}

const mostErrors = 20

function describeAll(errors: readonly unknown[], stacks: boolean, depth: number): unknown[] {
  const first = errors.slice(0, mostErrors).map((each) => describeError(each, stacks, depth))
  const more = errors.length - first.length
  return more === 0 ? first : [...first, { $described: `${more} more errors` }]
}
