/** A range of lines, from an index up to another one. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

/**
 * The lines that the headers of a hunk point at, such as those of a function: from the line that begins with the text of
 * the header to the end of its block. All lines when no line or several lines begin so.
 */
export function anchoredBlock(lines: readonly string[], anchors: readonly string[]): LineRange {
  let range: LineRange = { from: 0, to: lines.length }
  for (const anchor of anchors) {
    const found = positionOf(lines, anchor, range)
    if (found !== undefined) range = { from: found, to: blockEnd(lines, found, range.to) }
  }
  return range
}

/** The only line in a range that begins with a text; undefined without one, or with several. */
function positionOf(
  lines: readonly string[],
  text: string,
  { from, to }: LineRange,
): number | undefined {
  let found: number | undefined
  for (let index = from; index < to; index += 1) {
    if (lines[index]?.trimStart().startsWith(text) !== true) continue
    if (found !== undefined) return undefined
    found = index
  }
  return found
}

/** The index after the block that a line begins by a deeper indentation; `limit` for any other line. */
function blockEnd(lines: readonly string[], start: number, limit: number): number {
  const depth = indentation(lines[start])
  let hasBody = false
  for (let index = start + 1; index < limit; index += 1) {
    const line = lines[index] ?? ''
    if (line.trim() === '' || isPunctuationOrComment(line)) continue
    if (indentation(line) > depth) hasBody = true
    else return hasBody ? index : limit
  }
  return limit
}

function indentation(line = ''): number {
  return line.length - line.trimStart().length
}

/** Such lines of a block are often as deep as its first one. */
function isPunctuationOrComment(line: string): boolean {
  return /^\s*(?:[)}\]{]|#|\/\/|\/?\*)/u.test(line)
}
