import type { LanguageModel } from 'ai'
import { badInput } from '@smithers/cli/src/errors/command-failure.ts'

interface Provider {
  /** The environment variable that holds the key. */
  readonly keyVariable: string
  /** Local servers need no key. */
  readonly keyRequired: boolean
  readonly baseUrlRequired: boolean
  /** Loads the provider's package. Only the chosen one costs start-up time. */
  load(settings: ProviderSettings): Promise<LanguageModel>
}

interface ProviderSettings {
  readonly model: string
  readonly apiKey?: string
  readonly baseURL?: string
}

const providers: Readonly<Record<string, Provider>> = {
  anthropic: {
    keyVariable: 'ANTHROPIC_API_KEY',
    keyRequired: true,
    baseUrlRequired: false,
    async load({ model, ...settings }) {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic(settings)(model)
    },
  },
  openai: {
    keyVariable: 'OPENAI_API_KEY',
    keyRequired: true,
    baseUrlRequired: false,
    async load({ model, ...settings }) {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI(settings)(model)
    },
  },
  'openai-compatible': {
    keyVariable: 'OPENAI_COMPATIBLE_API_KEY',
    keyRequired: false,
    baseUrlRequired: true,
    async load({ model, baseURL = '', ...settings }) {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      return createOpenAICompatible({
        ...settings,
        baseURL,
        name: 'openai-compatible',
        includeUsage: true,
      })(model)
    },
  },
}

/** The providers by name, for the help text. */
export const providerNames: readonly string[] = Object.keys(providers)

/** Where a model comes from. */
export interface LanguageModelChoice {
  /** `provider/model`; the model's own name may hold further slashes. */
  readonly model: string
  /** @default the provider's own address */
  readonly baseUrl?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The model named by `provider/model`, with its key from the environment. Refuses everything that can be wrong without
 * a request to the provider.
 */
export async function resolveLanguageModel(choice: LanguageModelChoice): Promise<LanguageModel> {
  const slash = choice.model.indexOf('/')
  const providerName = choice.model.slice(0, Math.max(slash, 0))
  const model = choice.model.slice(slash + 1)
  const provider = Object.hasOwn(providers, providerName) ? providers[providerName] : undefined
  if (provider === undefined || model === '') {
    throw badInput(
      `Unknown model "${choice.model}". Give --model provider/model, where provider is one of: ${providerNames.join(', ')}.`,
    )
  }
  const baseURL = choice.baseUrl === undefined ? undefined : checkedBaseUrl(choice.baseUrl)
  if (provider.baseUrlRequired && baseURL === undefined) {
    throw badInput(`The provider "${providerName}" needs --base-url URL: the address of its API.`)
  }
  const apiKey = choice.env[provider.keyVariable]?.trim() || undefined
  if (provider.keyRequired && apiKey === undefined) {
    throw badInput(
      `${provider.keyVariable} is not set: the provider "${providerName}" needs a key in the environment. Without a key, run "smithers demo".`,
    )
  }
  return provider.load({
    model,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
  })
}

function checkedBaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw badInput(`--base-url "${value}" is not an http or https address.`)
  }
  return value
}
