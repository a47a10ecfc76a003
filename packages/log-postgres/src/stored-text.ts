/** Begins a text that is stored as JSON. A noncharacter: UTF-8 can hold it, and no other program has a use for it. */
const mark = '\uFDD0'

/**
 * A text as a column of PostgreSQL can hold it, which takes neither NUL nor a lone surrogate. Such a text is stored as
 * the mark and its JSON, and so is one that begins with the mark; every other text stays as it is. Different texts stay
 * different.
 */
export function storedText(text: string): string {
  const fits = text.isWellFormed() && !text.includes('\0') && !text.startsWith(mark)
  return fits ? text : mark + JSON.stringify(text)
}

/** {@link storedText} of a text that may be missing. */
export function storedOrNull(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : storedText(text)
}

/** A text as it was before it was stored. What another program wrote after the mark is returned as it is. */
export function originalText(stored: string): string {
  if (!stored.startsWith(mark)) return stored
  try {
    const text: unknown = JSON.parse(stored.slice(mark.length))
    return typeof text === 'string' ? text : stored
  } catch {
    return stored
  }
}
