import type { SandboxFiles } from '@smithers/sandbox'
import { SmithersError } from '@smithers/tool-core'
import { beginDeadline } from './deadline.ts'

/** Which lines to read, and how. */
export interface PartRequest {
  readonly path: string
  readonly offset?: number | undefined
  readonly limit?: number | undefined
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Return the first lines that fit in place of an error. */
  readonly cut?: boolean
}

/** Lines of a file. */
export interface ReadPart {
  readonly text: string
  /** Undefined unless the end of the file was reached. */
  readonly totalLines: number | undefined
}

/**
 * Reads lines of a file of any size.
 *
 * @throws SmithersError `INVALID_INPUT` for an offset past the end, `TOOL_TIMEOUT`, `TOOL_ABORTED`
 */
export async function readPart(
  files: SandboxFiles,
  { path, offset = 1, limit, maxBytes, timeoutMs, cut = false }: PartRequest,
  signal: AbortSignal,
): Promise<ReadPart> {
  // Lines may be far into a file of any size.
  const deadline = beginDeadline(timeoutMs, signal)
  try {
    const part = await files.readLines(path, {
      startLine: offset,
      endLine: limit === undefined ? undefined : offset + limit - 1,
      maxBytes,
      cut,
      abortSignal: deadline.signal,
    })
    if (part.totalLines !== undefined && offset > Math.max(part.totalLines, 1)) {
      throw offsetPastEnd(path, offset, part.totalLines)
    }
    return part
  } catch (error) {
    if (deadline.isLate(error)) throw timedOut(path, timeoutMs)
    if (signal.aborted && error === signal.reason) throw aborted(path, signal)
    throw error
  } finally {
    deadline.clear()
  }
}

function timedOut(path: string, timeoutMs: number): SmithersError {
  return new SmithersError(
    'TOOL_TIMEOUT',
    `Reading ${JSON.stringify(path)} took more than ${timeoutMs} ms. Read lines nearer to its beginning, or search it with grep.`,
    { details: { path, timeoutMs, option: 'limits.timeoutMs' }, effect: 'none' },
  )
}

function aborted(path: string, signal: AbortSignal): SmithersError {
  return new SmithersError(
    'TOOL_ABORTED',
    `Reading ${JSON.stringify(path)} was stopped: the call was aborted.`,
    { details: { path }, cause: signal.reason, effect: 'none' },
  )
}

function offsetPastEnd(path: string, offset: number, totalLines: number): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    `offset ${offset} is past the end of ${JSON.stringify(path)}, which has ${totalLines} lines.`,
    { details: { path, offset, totalLines }, effect: 'none' },
  )
}
