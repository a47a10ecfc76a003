import { isSmithersError } from '@smithers/tool-core/log'

/** An error in one line, with its documented code, or with the answer of the model's provider. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isSmithersError(error)) return `${error.message} (${error.code})`
  // After several retries, the AI SDK throws an error that contains the last one.
  const lastError: unknown = (error as { lastError?: unknown }).lastError
  if (lastError instanceof Error) return describeError(lastError)
  if (error.name === 'AI_APICallError') {
    const { statusCode, url } = error as { statusCode?: number; url?: string }
    const where = url !== undefined && URL.canParse(url) ? ` at ${new URL(url).origin}` : ''
    const answered = statusCode === undefined ? 'did not answer' : `answered ${statusCode}`
    return `The model's provider${where} ${answered}: ${firstLine(error.message)}`
  }
  return firstLine(error.message) || error.name
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
