import { characterEnd } from '../json/character-end.ts'
import type { ModelBudget } from '../contract/model-budget.ts'

/** A text that was too long for a model, and what is left of it. */
export interface FittedText {
  readonly text: string
  /** Bytes of the beginning that is shown; undefined when all of the text is. */
  readonly shownBytes: number | undefined
}

/**
 * Cuts a text to its beginning and its end, at the ends of lines where there are any near, with a note between them.
 * `rest` says at the cut how to read what is missing, given the bytes that are shown before it.
 */
export function fitBudget(
  text: string,
  { maxBytes = Infinity, maxLines = Infinity }: ModelBudget,
  rest: (shownBytes: number) => string,
): FittedText {
  const bounded = cutLines(text, maxLines)
  if (bounded === undefined && fitsBytes(text, maxBytes)) return { text, shownBytes: undefined }
  const [first, last] = bounded ?? [text, text]
  // Neither number in the note has more digits than these.
  const longest = note(text, '', '', rest(text.length * 3))
  const room = Math.max(0, maxBytes - Buffer.byteLength(longest))
  const tail = cutStart(last, Math.floor(room / 2))
  const head = cutEnd(first, room - Buffer.byteLength(tail))
  const shownBytes = Buffer.byteLength(head)
  return { text: `${head}${note(text, head, tail, rest(shownBytes))}${tail}`, shownBytes }
}

function note(text: string, head: string, tail: string, rest: string): string {
  const hidden = text.slice(head.length, text.length - tail.length)
  const lines = countLines(hidden)
  const bytes = Buffer.byteLength(hidden)
  const before = head === '' || head.endsWith('\n') ? '' : '\n'
  return `${before}[… ${bytes} of ${Buffer.byteLength(text)} bytes (${lines} lines) are not shown here. ${rest} …]\n`
}

// A character of a string is at most three bytes of UTF-8, so most texts need not be measured.
function fitsBytes(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
}

/** The first and the last lines of a text that has more than `maxLines`. */
function cutLines(text: string, maxLines: number): readonly [string, string] | undefined {
  if (text.length <= maxLines) return undefined
  const headLines = Math.ceil(maxLines / 2)
  let headEnd = -1
  let lines = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
    lines += 1
    if (lines === headLines) headEnd = end + 1
  }
  if (!text.endsWith('\n')) lines += 1
  if (lines <= maxLines) return undefined
  let tailStart = text.endsWith('\n') ? text.length - 1 : text.length
  for (let left = Math.floor(maxLines / 2); left > 0; left -= 1) {
    tailStart = text.lastIndexOf('\n', tailStart - 1)
  }
  const tail = maxLines < 2 ? '' : text.slice(tailStart + 1)
  return [text.slice(0, Math.max(headEnd, 0)), tail]
}

function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) lines += 1
  return lines
}

/** The longest beginning within `maxBytes`, up to the end of a line unless that leaves out a quarter of it. */
function cutEnd(text: string, maxBytes: number): string {
  if (fitsBytes(text, maxBytes)) return text
  const bytes = Buffer.from(text.slice(0, maxBytes))
  const end = characterEnd(bytes, maxBytes)
  const line = bytes.lastIndexOf(10, end - 1) + 1
  return bytes.toString('utf8', 0, line > end * 0.75 ? line : end)
}

/** The longest end within `maxBytes`, from the beginning of a line unless that leaves out a quarter of it. */
function cutStart(text: string, maxBytes: number): string {
  if (fitsBytes(text, maxBytes)) return text
  if (maxBytes === 0) return ''
  const bytes = Buffer.from(text.slice(-maxBytes))
  let start = Math.max(0, bytes.length - maxBytes)
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  const line = bytes.indexOf(10, start) + 1
  const isNear = line > 0 && line - start < (bytes.length - start) * 0.25
  return bytes.toString('utf8', isNear ? line : start)
}
