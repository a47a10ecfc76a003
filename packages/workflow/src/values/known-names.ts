import { SmithersError } from '@smithers/tool-core'

/**
 * The names in `given` that `known` lacks, or null. Names set to `undefined` count as left out. A misspelt name would
 * otherwise be ignored silently, along with what it should have done.
 */
export function unknownNames(
  given: object,
  known: Readonly<Record<string, true>>,
): readonly string[] | null {
  // A tree is checked at every render, so a known name costs no copy.
  let unknown: string[] | null = null
  for (const name in given) {
    if (known[name] === true || given[name as keyof typeof given] === undefined) continue
    if (!Object.hasOwn(given, name)) continue
    unknown ??= []
    unknown.push(name)
  }
  return unknown
}

/**
 * Refuses options that a function does not have.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function assertKnownOptions(
  functionName: string,
  given: object,
  known: Readonly<Record<string, true>>,
): void {
  const unknown = unknownNames(given, known)
  if (unknown === null) return
  const names = unknown.map((name) => JSON.stringify(name)).join(', ')
  throw new SmithersError(
    'INVALID_INPUT',
    `${functionName} has no ${unknown.length === 1 ? 'option' : 'options'} ${names}. Its options are ${Object.keys(known).join(', ')}.`,
    { details: { unknown }, effect: 'none' },
  )
}
