import type { SandboxFiles } from '@smithers/sandbox'
import { beginDeadline } from './deadline.ts'
import { type PartRequest, readPart } from './read-part.ts'
import { numberedLines } from './numbered-lines.ts'

/** Bytes for the line about the page. */
const reservedBytes = 100
/** Lines are counted to the end of files up to this size. */
const maxCountedBytes = 64 * 1024 * 1024

/** A request for a page of a file. */
export interface PageRequest extends Omit<PartRequest, 'cut'> {
  readonly maxLines: number
  readonly numbered: boolean
}

/**
 * Reads the lines asked for as far as they fit into a page, and says in a last line which they are and where to go on. A
 * file that fits as a whole has no such line.
 */
export async function readPage(
  files: SandboxFiles,
  { path, offset = 1, limit, maxBytes, maxLines, timeoutMs, numbered }: PageRequest,
  signal: AbortSignal,
): Promise<string> {
  const most = Math.max(1, maxLines - 2)
  const wanted = Math.min(limit ?? most, most)
  const room = Math.max(1, maxBytes - reservedBytes)
  const request = { path, offset, limit: wanted, maxBytes: room, timeoutMs, cut: true }
  const { text, totalLines } = await readPart(files, request, signal)
  const shown = numbered ? numberedLines(text, offset, room) : text
  const count = lineCount(shown)
  const isWhole = offset === 1 && totalLines !== undefined && count >= totalLines
  if (isWhole) return shown
  const total = totalLines ?? (await countLines(files, path, timeoutMs, signal))
  const last = offset + count - 1
  const of = total === undefined ? '' : ` of ${total}`
  const next = total !== undefined && last >= total ? 'end of file' : `next offset ${last + 1}`
  return `${shown}${shown.endsWith('\n') || shown === '' ? '' : '\n'}[lines ${offset}–${last}${of}, ${next}]`
}

function lineCount(text: string): number {
  const breaks = text.split('\n').length - 1
  return text === '' || text.endsWith('\n') ? breaks : breaks + 1
}

async function countLines(
  files: SandboxFiles,
  path: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { sizeBytes } = await files.stat(path)
  if (sizeBytes > maxCountedBytes) return undefined
  const deadline = beginDeadline(timeoutMs, signal)
  try {
    const beyond = { startLine: Number.MAX_SAFE_INTEGER, maxBytes: 1, abortSignal: deadline.signal }
    return (await files.readLines(path, beyond)).totalLines
  } catch {
    // The page is there; only its share of the file stays unknown.
    return undefined
  } finally {
    deadline.clear()
  }
}
