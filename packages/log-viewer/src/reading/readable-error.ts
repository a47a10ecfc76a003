/** A recorded error, as far as it can be read. */
export interface ReadableError {
  readonly name: string
  readonly code: string | null
  readonly message: string
}

/** Reads a recorded error of any shape; null when there is none. */
export function readableError(errorJson: string | null): ReadableError | null {
  if (errorJson === null) return null
  let value: unknown
  try {
    value = JSON.parse(errorJson)
  } catch {
    return { name: 'Error', code: null, message: errorJson }
  }
  if (typeof value !== 'object' || value === null) {
    return { name: 'Error', code: null, message: typeof value === 'string' ? value : errorJson }
  }
  const { name, code, message } = value as Record<string, unknown>
  return {
    name: typeof name === 'string' ? name : 'Error',
    code: typeof code === 'string' ? code : null,
    message: typeof message === 'string' ? message : errorJson,
  }
}
