import type { LogWarningsFunction } from 'ai'

/**
 * Hands the warnings of the AI SDK, such as an unsupported setting, to `note`: each once in the life of the process,
 * instead of once a step with the process number before it.
 */
export function noteModelWarnings(note: (text: string) => void): void {
  const noted = new Set<string>()
  const log: LogWarningsFunction = ({ warnings, model = 'the model' }) => {
    for (const warning of warnings) {
      const text = `${model}: ${Object.values(warning).join(': ')}`
      if (!noted.has(text)) note(text)
      noted.add(text)
    }
  }
  globalThis.AI_SDK_LOG_WARNINGS = log
}
