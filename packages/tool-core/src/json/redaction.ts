/** What the log, events and traces must not see. */
export interface RedactionOptions {
  /** Names of properties whose values are hidden, besides the usual names of secrets. Compared without case. */
  readonly keys?: readonly (string | RegExp)[] | undefined
  /** Secrets of the run: replaced wherever a text, or the name of a property, contains them. */
  readonly values?: readonly string[] | undefined
  /** Decides about each value; returns it, or what is recorded instead. `path` looks like `$.items[0].card`. */
  readonly replace?: ((path: string, value: unknown) => unknown) | undefined
}

/** {@link RedactionOptions}, ready to apply. */
export interface Redaction {
  hidesKey(key: string, value: unknown): boolean
  /** Hides the secrets of the run, wherever a text or the name of a property contains them. */
  hideIn(text: string): string
  readonly replace: ((path: string, value: unknown) => unknown) | undefined
}

/** Replaces what was hidden. */
export const redactedText = '[redacted]'

const secretName =
  /(?:authorization|cookie|bearer|jwt|token|secret|credential|passphrase|pwd|passw(?:or)?d(?:[-_]?(?:hash|digest|salt))?|(?:api|private|access|secret|signing|encryption)[-_]?key)s?$/i
// `maxTokens: 4096` counts tokens; only a text can be one.
const tokenName = /tokens?$/i
const rememberedNames = 1000

/** Prepares redaction once for a run, so that a call pays one lookup for each property name. */
export function compileRedaction(options: RedactionOptions): Redaction {
  const patterns = [...(options.keys ?? [])].map((key) =>
    typeof key === 'string' ? key.toLowerCase() : key,
  )
  const values = (options.values ?? []).filter((value) => value !== '')
  const secretNames = new Map<string, boolean>()

  function isSecretName(key: string): boolean {
    const known = secretNames.get(key)
    if (known !== undefined) return known
    const isSecret =
      secretName.test(key) ||
      patterns.some((pattern) =>
        typeof pattern === 'string' ? pattern === key.toLowerCase() : key.search(pattern) !== -1,
      )
    if (secretNames.size >= rememberedNames) secretNames.clear()
    secretNames.set(key, isSecret)
    return isSecret
  }

  return {
    hidesKey(key, value) {
      if (!isSecretName(key) || value === null || value === undefined) return false
      return typeof value !== 'number' || !tokenName.test(key)
    },
    hideIn(text) {
      let hidden = text
      for (const value of values) {
        if (hidden.includes(value)) hidden = hidden.replaceAll(value, redactedText)
      }
      return hidden
    },
    replace: options.replace,
  }
}
