/** A piece of a text as the page shows it. */
export interface TextPiece {
  readonly text: string
  /** The piece is the name of a character that a reader could not see, such as `\u202e`. */
  readonly escape: boolean
}

// Colours and other styles of a terminal. They carry nothing that a reader of the page needs.
// oxlint-disable-next-line no-control-regex -- terminal sequences begin with a control character
const terminalStyle = /\u001b\[[0-9;:]*m/g

// What is invisible, moves the text around it or stands in for half a character. Tabs and line breaks stay.
const unseen =
  /[\p{Cc}\p{Cs}\p{Bidi_Control}\u00ad\u200b\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * A text from a model, a file or a command, safe to show: terminal colours are removed, and every other character that a
 * reader could not see is named, so that a text cannot pretend to be another one.
 *
 * @param newlines `'keep'` for a block of text; `'mark'` shows a line break as ⏎, for a single line.
 */
export function visiblePieces(text: string, newlines: 'keep' | 'mark' = 'keep'): TextPiece[] {
  const plain = text.replace(terminalStyle, '').replaceAll('\r\n', '\n')
  const pieces: TextPiece[] = []
  let from = 0
  const add = (piece: string, escape: boolean): void => {
    if (piece !== '') pieces.push({ text: piece, escape })
  }
  for (const { 0: character, index } of plain.matchAll(unseen)) {
    const shown = nameOf(character, newlines)
    if (shown === undefined) continue
    add(plain.slice(from, index), false)
    add(shown, true)
    from = index + character.length
  }
  add(plain.slice(from), false)
  return pieces
}

/** The same as one string, for a single line: a title, a label, a summary. */
export function visibleLine(text: string): string {
  return visiblePieces(text, 'mark')
    .map((piece) => piece.text)
    .join('')
}

function nameOf(character: string, newlines: 'keep' | 'mark'): string | undefined {
  if (character === '\n') return newlines === 'keep' ? undefined : '⏎'
  if (character === '\t') return newlines === 'keep' ? undefined : ' '
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}
