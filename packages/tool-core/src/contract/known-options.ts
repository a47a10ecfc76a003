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
  let unknown: string[] | undefined
  // Each task of a workflow comes by here, so known names cost no list of names or pairs.
  for (const name in given) {
    if (known[name] === true || !Object.hasOwn(given, name)) continue
    const value = (given as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined) (unknown ??= []).push(JSON.stringify(name))
  }
  if (unknown === undefined) return null
  const many = unknown.length > 1
  return `unknown ${many ? 'options' : 'option'} ${unknown.join(', ')}. The options are ${Object.keys(known).join(', ')}.`
}
