/** The names of all options, each once: `satisfies OptionNames<Options>` keeps the list complete. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>

/**
 * Names the unknown options, or null. Those set to `undefined` count as left out. A misspelt option
 * would otherwise be lost in silence, and with it what it was to protect.
 */
export function complaintOfUnknown(
  given: object,
  known: Readonly<Record<string, true>>,
): string | null {
  const unknown: string[] = []
  // A loop over names makes no list of pairs: each task of a workflow comes by here.
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue
    const value = (given as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined) unknown.push(JSON.stringify(name))
  }
  if (unknown.length === 0) return null
  const many = unknown.length > 1
  return `unknown ${many ? 'options' : 'option'} ${unknown.join(', ')}. The options are ${Object.keys(known).join(', ')}.`
}
