import type { SmithersError } from '@smithers/tool-core'

/** An error as JSON, as runs and attempts record it. */
export function errorJson(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify({ message: String(error) })
  const { name, message } = error
  const { code } = error as Partial<SmithersError>
  return JSON.stringify({ name, ...(typeof code === 'string' && { code }), message })
}
