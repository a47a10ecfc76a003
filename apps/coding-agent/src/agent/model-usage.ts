/** What the model of a run used, as far as its provider says. */
export interface ModelUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** In the currency of the provider; null when it reports no cost. */
  readonly cost: number | null
}

/** What one step used. */
interface StepUsage {
  readonly usage: {
    readonly inputTokens: number | undefined
    readonly outputTokens: number | undefined
  }
  readonly providerMetadata?: Readonly<Record<string, unknown>> | undefined
}

/** Adds a step to what was used before; null while no step has reported anything. */
export function addUsage(before: ModelUsage | null, step: StepUsage): ModelUsage | null {
  const { inputTokens, outputTokens } = step.usage
  const cost = costOf(step.providerMetadata)
  if (inputTokens === undefined && outputTokens === undefined && cost === null) return before
  return {
    inputTokens: (before?.inputTokens ?? 0) + (inputTokens ?? 0),
    outputTokens: (before?.outputTokens ?? 0) + (outputTokens ?? 0),
    cost: cost === null ? (before?.cost ?? null) : (before?.cost ?? 0) + cost,
  }
}

/** `1200 tokens in, 300 out, cost 0.0123`. */
export function usageText({ inputTokens, outputTokens, cost }: ModelUsage): string {
  const tokens = `${inputTokens} tokens in, ${outputTokens} out`
  return cost === null ? tokens : `${tokens}, cost ${Number(cost.toPrecision(4))}`
}

/** The cost that a provider reports with its answer, as gateways do; prices are never assumed. */
function costOf(metadata: StepUsage['providerMetadata']): number | null {
  for (const of of Object.values(metadata ?? {})) {
    const { cost, usage } = (of ?? {}) as { readonly cost?: unknown; readonly usage?: unknown }
    const nested = (usage as { readonly cost?: unknown } | null | undefined)?.cost
    for (const given of [cost, nested]) {
      const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
      if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number
    }
  }
  return null
}
