// C0 and C1 control characters except tab and newline, which a terminal would interpret.
// oxlint-disable-next-line no-control-regex
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
// They change the order in which characters are shown, or start a line of their own, so that text looks like other text.
const layoutCharacters = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/**
 * Text from a model, a file or a command, safe to print: control characters become visible escapes.
 *
 * Guarantees: no escape sequence of the text reaches the terminal, so it cannot move the cursor, rewrite an earlier
 * line or set the title; and no control of text direction, so it is shown in its own order.
 */
export function printable(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(
      controlCharacters,
      (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    )
    .replaceAll(
      layoutCharacters,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}

/** {@link printable} on one line of at most `width` characters, with an ellipsis where it was cut. */
export function printableLine(text: string, width: number): string {
  const line = printable(text).replaceAll('\n', '⏎').replaceAll('\t', ' ')
  // By code points, so that no character is cut in half.
  const characters = Array.from(line)
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`
}
