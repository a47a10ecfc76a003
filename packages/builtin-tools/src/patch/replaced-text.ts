import { SmithersError } from '@smithers/tool-core'
import { differenceInCharacters, lookOf } from './character-difference.ts'
import { quoteLine } from './unified-diff-error.ts'

/** A replacement of text in one file. */
export interface Replacement {
  readonly path: string
  readonly oldText: string
  readonly newText: string
  readonly replaceAll: boolean
}

/** A changed text, and the lines, from 1, at which the replaced passages began. */
export interface ReplacedText {
  readonly text: string
  readonly lines: readonly number[]
}

/** Positions that a refusal lists. */
const maxShown = 10
/** Occurrences that a refusal counts. */
const maxCounted = 100

/**
 * Replaces a passage that occurs once, or all of them. In a file with CRLF line endings, a passage written with LF means
 * CRLF when it does not occur as written, and new lines get CRLF when every line has it.
 *
 * @throws SmithersError `TOOL_REPLACE_FAILED` when the passage is missing or occurs several times,
 * `TOOL_PATCH_ALREADY_APPLIED` when only the new text is there, `TOOL_CONTENT_TOO_LARGE` when the result would be
 */
export function replacedText(
  text: string,
  given: Replacement,
  maxBytes: number = Infinity,
): ReplacedText {
  const { path, replaceAll } = given
  const { oldText, newText } = withEndingsOf(text, given)
  const first = text.indexOf(oldText)
  if (first === -1) throw isThere(text, newText) ? alreadyReplaced(path) : notFound(text, given)
  const overlaps = text.indexOf(oldText, first + 1) !== -1
  if (overlaps && !replaceAll) {
    const starts = positionsOf(text, oldText, 1, maxCounted + 1)
    throw severalTimes(path, starts.length, linesOf(text, starts))
  }
  const starts = replaceAll ? positionsOf(text, oldText, oldText.length) : [first]
  const bytes =
    Buffer.byteLength(text) +
    starts.length * (Buffer.byteLength(newText) - Buffer.byteLength(oldText))
  // Before it is built: a short text can occur often enough to fill the memory.
  if (bytes > maxBytes) throw contentTooLarge('the changed file would have', path, bytes, maxBytes)
  const after = replaceAll
    ? text.split(oldText).join(newText)
    : text.slice(0, first) + newText + text.slice(first + oldText.length)
  return { text: after, lines: linesOf(text, starts) }
}

function withEndingsOf(
  text: string,
  { oldText, newText }: Replacement,
): { readonly oldText: string; readonly newText: string } {
  if (oldText.includes('\r') || !text.includes('\r\n')) return { oldText, newText }
  if (!text.includes(oldText)) {
    return { oldText: withReturns(oldText), newText: withReturns(newText) }
  }
  // A single line occurs with any endings, so those of the file decide for the new ones.
  const isMeant = newText.includes('\n') && !newText.includes('\r') && !/(?<!\r)\n/u.test(text)
  return { oldText, newText: isMeant ? withReturns(newText) : newText }
}

function withReturns(passage: string): string {
  return passage.replaceAll(/\r?\n/gu, '\r\n')
}

/** Where a passage begins, at most `limit` times; `step` is its length for passages that do not overlap. */
function positionsOf(
  text: string,
  passage: string,
  step: number,
  limit: number = Infinity,
): readonly number[] {
  const found: number[] = []
  for (let at = text.indexOf(passage); at !== -1; at = text.indexOf(passage, at + step)) {
    found.push(at)
    if (found.length === limit) break
  }
  return found
}

function linesOf(text: string, ascending: readonly number[]): readonly number[] {
  const lines: number[] = []
  let line = 1
  let position = 0
  for (const start of ascending) {
    for (
      let newline = text.indexOf('\n', position);
      newline !== -1 && newline < start;
      newline = text.indexOf('\n', position)
    ) {
      line += 1
      position = newline + 1
    }
    if (lines.at(-1) !== line) lines.push(line)
  }
  return lines
}

/** Whether a text that says something occurs exactly once, and not as a part of a word. */
function isThere(text: string, newText: string): boolean {
  if (!/\w{2}/u.test(newText)) return false
  const first = text.indexOf(newText)
  if (first === -1 || text.indexOf(newText, first + 1) !== -1) return false
  const end = first + newText.length
  return !isInWord(text, first) && !isInWord(text, end)
}

/** Whether a word goes over a position. */
function isInWord(text: string, at: number): boolean {
  return /^[\p{L}\p{N}_$]{2}$/u.test(text.slice(Math.max(0, at - 1), at + 1))
}

function alreadyReplaced(path: string): SmithersError {
  return new SmithersError(
    'TOOL_PATCH_ALREADY_APPLIED',
    `Already replaced: ${JSON.stringify(path)} does not have oldText, and has newText once. Nothing was changed. Read the file; if that is the change you meant, continue.`,
    { details: { path }, effect: 'none' },
  )
}

function severalTimes(path: string, count: number, lines: readonly number[]): SmithersError {
  const shown = lines.slice(0, maxShown)
  const more = lines.length > maxShown ? ' and more' : ''
  const where = `${lines.length === 1 ? 'line' : 'lines'} ${shown.join(', ')}${more}`
  const times = count > maxCounted ? `more than ${maxCounted}` : count
  return refusal(
    path,
    `oldText occurs ${times} times in ${JSON.stringify(path)}, at ${where}. Give it more of the text around the one that you mean, or pass replaceAll: true.`,
    { occurrences: Math.min(count, maxCounted), lines: shown },
  )
}

/** The error for a passage that is not in the text, with the line that resembles its first one most. */
function notFound(text: string, { path, oldText }: Replacement): SmithersError {
  const wanted = oldText.split('\n').find((line) => line.trim() !== '') ?? oldText
  const lines = text.split('\n')
  const sought = wanted.replace(/\r$/u, '')
  const exact = lines.findIndex((line) => line.includes(sought))
  const what = `oldText does not occur in ${JSON.stringify(path)}`
  if (exact !== -1) {
    return refusal(
      path,
      `${what}: its first line is at line ${exact + 1}, but the lines after it differ. ${firstDifference(lines, exact, oldText)}`,
      { line: exact + 1 },
    )
  }
  const alike = lines.findIndex(alikeTo(wanted))
  if (alike === -1) return refusal(path, `${what}, and no line resembles its first one.`, {})
  const unlike = differenceInCharacters(wanted, lines[alike] ?? '')
  return refusal(
    path,
    `${what}: line ${alike + 1} differs from its first line in blanks or look-alike characters: expected ${quoteLine(wanted)}, found ${quoteLine(lines[alike])}.${unlike}`,
    { line: alike + 1 },
  )
}

/** Whether a line differs from another one only in blanks around it, or in characters that look alike. */
function alikeTo(wanted: string): (line: string) => boolean {
  const trimmed = wanted.trim()
  const look = lookOf(trimmed)
  return (line) => {
    const other = line.trim()
    if (other === trimmed) return true
    // Compatibility forms and characters without width change the length, but rarely by much.
    const isNear =
      other.length <= 2 * trimmed.length + 20 && trimmed.length <= 2 * other.length + 20
    return isNear && look === lookOf(other)
  }
}

function firstDifference(lines: readonly string[], start: number, oldText: string): string {
  const wanted = oldText.split('\n')
  const from = start - wanted.findIndex((line) => line.trim() !== '')
  for (const [offset, line] of wanted.entries()) {
    const found = lines[from + offset]
    const isEdge = offset === 0 || offset === wanted.length - 1
    if (found === line || (isEdge && found?.includes(line) === true)) continue
    const unlike = found === undefined ? '' : differenceInCharacters(line, found)
    return `Line ${from + offset + 1}: expected ${quoteLine(line)}, found ${quoteLine(found)}.${unlike}`
  }
  return ''
}

/** A log holds neither the passage nor the lines that resemble it. */
function refusal(
  path: string,
  reason: string,
  details: Readonly<Record<string, unknown>>,
): SmithersError {
  return new SmithersError(
    'TOOL_REPLACE_FAILED',
    `Failed to replace: ${reason} Nothing was changed.`,
    {
      logMessage: `Failed to replace in ${JSON.stringify(path)}.`,
      details: { path, ...details },
      effect: 'none',
    },
  )
}

export function contentTooLarge(
  what: string,
  path: string,
  bytes: number,
  maxBytes: number,
): SmithersError {
  return new SmithersError(
    'TOOL_CONTENT_TOO_LARGE',
    `Content too large: ${what} ${bytes} bytes, the limit is ${maxBytes} (${JSON.stringify(path)}). Nothing was changed; replace less at once.`,
    { details: { path, bytes, maxBytes }, effect: 'none' },
  )
}
