/**
 * Names the characters in which two lines differ that look alike: blanks, tabs, quotes, dashes, characters without width.
 * An empty text when the difference can be seen.
 */
export function differenceInCharacters(expected: string, found: string): string {
  if (expected === found || lookOf(expected) !== lookOf(found)) return ''
  const [wanted, actual] = [Array.from(expected), Array.from(found)]
  let index = 0
  while (index < wanted.length && wanted[index] === actual[index]) index += 1
  return ` They look alike: at character ${index + 1} the patch has ${nameOf(wanted[index])}, the file has ${nameOf(actual[index])}.`
}

/** Two lines with the same result cannot be told apart by eye. */
export function lookOf(line: string): string {
  return line
    .normalize('NFKC')
    .replaceAll(/[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/gu, '')
    .replaceAll(/[\u2018\u2019\u201B\u2032]/gu, "'")
    .replaceAll(/[\u201C\u201D\u201F\u2033]/gu, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/gu, '-')
    .replaceAll(/\s+/gu, ' ')
    .trimEnd()
}

const names: ReadonlyMap<string, string> = new Map([
  [' ', 'space'],
  ['\t', 'tab'],
  ['\r', 'carriage return'],
  ['\u00A0', 'no-break space'],
  ['\u00AD', 'soft hyphen'],
  ['\u200B', 'zero width space'],
  ['\u200D', 'zero width joiner'],
  ['\u2013', 'en dash'],
  ['\u2014', 'em dash'],
  ['\u2018', 'left single quotation mark'],
  ['\u2019', 'right single quotation mark'],
  ['\u201C', 'left double quotation mark'],
  ['\u201D', 'right double quotation mark'],
  ['\u202F', 'narrow no-break space'],
  ['\u2212', 'minus sign'],
  ['\uFEFF', 'byte order mark'],
])

function nameOf(character: string | undefined): string {
  if (character === undefined) return 'the end of the line'
  const point = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const name = names.get(character)
  if (name !== undefined) return `U+${point} (${name})`
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(character)
    ? `${JSON.stringify(character)} (U+${point})`
    : `U+${point}`
}
