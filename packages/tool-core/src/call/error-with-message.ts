/** A failure of a repeated call, whose message begins with what the agent must know of the repetition. */
export function errorWithNotice(error: unknown, note: string): Error {
  const text = error instanceof Error ? error.message : textOf(error)
  return errorWithMessage(error, `${note}\n${text}`)
}

/**
 * A copy of what a call threw with another message: of an error, the message is all that an agent reads. The copy is of
 * the same class and has the same fields; its cause is the original.
 */
export function errorWithMessage(error: unknown, message: string): Error {
  const cause = { cause: error }
  if (!(error instanceof Error)) return new Error(message, cause)
  const { message: _message, cause: _cause, stack: _stack, ...fields } = ownFieldsOf(error)
  try {
    const copy = new Error(message, cause)
    Object.setPrototypeOf(copy, Object.getPrototypeOf(error) as object)
    Object.defineProperties(copy, fields)
    if (copy.name === error.name && copy.message === message) return copy
  } catch {
    // A class with private fields, such as DOMException, does not work on a copy.
  }
  const { name, code } = error as Error & { readonly code?: unknown }
  return Object.assign(new Error(message, cause), { name, ...(code === undefined ? {} : { code }) })
}

function ownFieldsOf(error: Error): PropertyDescriptorMap {
  return Object.getOwnPropertyDescriptors(error) as PropertyDescriptorMap
}

// As the AI SDK shows it to the model.
function textOf(thrown: unknown): string {
  if (thrown === null || thrown === undefined) return 'unknown error'
  if (typeof thrown === 'string') return thrown
  // Not imported: that evaluates every lazy part of the module, a third of what importing this package may cost.
  if (typeof thrown !== 'object') return process.getBuiltinModule('node:util').inspect(thrown)
  try {
    return JSON.stringify(thrown)
  } catch {
    return 'an object that JSON cannot say'
  }
}
