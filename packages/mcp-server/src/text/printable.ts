/**
 * A text in which nothing acts on a terminal or hides other text: control, format and direction characters become their
 * escapes. Line ends and tabs stay.
 */
export function printable(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)
}

/** {@link printable} on one line. */
export function printableLine(text: string): string {
  return printable(text).replaceAll(/[\n\t]/g, escaped)
}

/** At most so many characters, with an ellipsis for the rest. */
export function shortened(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code < 0x1_00_00 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
}
