import { APICallError, type LanguageModel, wrapLanguageModel } from 'ai'
import { describeError } from '@smithers/cli/src/errors/describe-error.ts'

/** How often the AI SDK retries a failed request: after 2 and 4 seconds unless the provider says otherwise. */
export const modelRetries = 2

/** A model that reports each retry to `note`, since nothing else is visible for seconds. */
export function notingRetries(model: LanguageModel, note: (text: string) => void): LanguageModel {
  if (typeof model === 'string') return model
  let failures = 0
  return wrapLanguageModel({
    model,
    middleware: {
      async wrapStream({ doStream }) {
        try {
          const result = await doStream()
          failures = 0
          return result
        } catch (error) {
          const again =
            failures < modelRetries && APICallError.isInstance(error) && error.isRetryable
          failures = again ? failures + 1 : 0
          if (again) note(`${describeError(error)}; retrying, ${failures} of ${modelRetries}`)
          throw error
        }
      },
    },
  })
}
