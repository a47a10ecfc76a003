import { readSync } from 'node:fs'
import { fileLimits } from '../file-limits.ts'
import { hasByteOrderMark } from './text-encoding.ts'
import { readInPool } from './pool-calls.ts'

const newline = 10

/** Which lines of a file, counted from 1. */
export interface LineRange {
  /** @default 1 */
  readonly startLine?: number | undefined
  /** The last line; may be past the end of the file. @default the last */
  readonly endLine?: number | undefined
}

/** Lines of a file, as bytes with their line endings. */
export interface LineSelection {
  readonly bytes: Buffer
  /** Bytes in the range; more than the length of `bytes` when the range was too large to keep. */
  readonly totalBytes: number
  /** Lines of the file; undefined unless its end was reached. */
  readonly totalLines: number | undefined
}

/**
 * Reads lines from a file of any size and keeps only the selection in memory. Stops after the selection, or when it
 * exceeds `maxBytes`.
 */
export async function selectLines(
  fd: number,
  sizeBytes: number,
  range: LineRange & { readonly maxBytes: number; readonly abortSignal?: AbortSignal | undefined },
): Promise<LineSelection> {
  const { startLine = 1, endLine = Number.POSITIVE_INFINITY, maxBytes, abortSignal } = range
  const chunk = Buffer.allocUnsafeSlow(
    Math.min(Math.max(sizeBytes, 4096), fileLimits.lineChunkBytes),
  )
  const kept: Buffer[] = []
  let totalBytes = 0
  let line = 1
  let isAtLineStart = true
  for (let position = 0; ;) {
    abortSignal?.throwIfAborted()
    const isSmall = sizeBytes <= fileLimits.maxSynchronousBytes
    const count = isSmall
      ? readSync(fd, chunk, 0, chunk.length, position)
      : await readInPool(fd, chunk, { offset: 0, length: chunk.length, position })
    if (count === 0) {
      const totalLines = isAtLineStart ? line - 1 : line
      return { bytes: Buffer.concat(kept), totalBytes, totalLines }
    }
    const bytes = chunk.subarray(0, count)
    const start = position === 0 && hasByteOrderMark(bytes) ? 3 : 0
    const found = cutLines(bytes, start, line, { startLine, endLine })
    if (totalBytes <= maxBytes) kept.push(Buffer.from(found.selected))
    totalBytes += found.selected.length
    line = found.line
    isAtLineStart = bytes[count - 1] === newline
    if (line > endLine || totalBytes > maxBytes) {
      return { bytes: Buffer.concat(kept), totalBytes, totalLines: undefined }
    }
    position += count
  }
}

/** The first lines of a selection that fit; false when not even one does. */
export function wholeLines({ bytes }: LineSelection, maxBytes: number): Buffer | false {
  const end = bytes.subarray(0, maxBytes).lastIndexOf(newline)
  return end === -1 ? false : bytes.subarray(0, end + 1)
}

/** The part of a chunk inside the range, and the line number at the end of the chunk. */
function cutLines(
  chunk: Buffer,
  start: number,
  firstLine: number,
  { startLine, endLine }: { readonly startLine: number; readonly endLine: number },
): { readonly selected: Buffer; readonly line: number } {
  let line = firstLine
  let position = start
  while (line < startLine) {
    const end = chunk.indexOf(newline, position)
    if (end === -1) return { selected: chunk.subarray(0, 0), line }
    position = end + 1
    line += 1
  }
  const from = position
  while (line <= endLine) {
    const end = chunk.indexOf(newline, position)
    if (end === -1) return { selected: chunk.subarray(from), line }
    position = end + 1
    line += 1
  }
  return { selected: chunk.subarray(from, position), line }
}
