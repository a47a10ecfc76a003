import { type DefinedTool, defineTool, isSmithersError, SmithersError } from '@smithers/tool-core'
import { z } from 'zod'
import type { SandboxFiles } from '@smithers/sandbox'
import { withFiles } from './sandbox-for-context.ts'
import { defaultOptions, limitsFor, modelBudget, type BundleOptions } from './bundle-options.ts'

/** Input of {@link read}. */
export interface ReadInput {
  /** From the root, or absolute beneath it. */
  readonly path: string
  /** The first line, counted from 1. @default 1 */
  readonly offset?: number | undefined
  /** How many lines. @default all */
  readonly limit?: number | undefined
}

const schema = z.object({
  path: z.string().describe('File path, relative to the root or absolute within it.'),
  offset: z.int().min(1).optional().describe('First line to read, counted from 1.'),
  limit: z.int().min(1).optional().describe('How many lines to read.'),
})

/**
 * Creates the tool `read` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_FILE_TOO_LARGE` over `maxOutputBytes`, `TOOL_FILE_NOT_TEXT`, `TOOL_FILE_NOT_FOUND`,
 * `TOOL_NOT_A_FILE`, `TOOL_PATH_ESCAPE`, `TOOL_PATH_INVALID`, `TOOL_PATH_DENIED`; `INVALID_INPUT` for an offset past the end;
 * `TOOL_TIMEOUT` and `TOOL_ABORTED` when reading lines of a large file takes too long or is aborted
 */
export function createReadTool(options: BundleOptions): DefinedTool<ReadInput, string> {
  return defineTool({
    name: 'read',
    description:
      'Read a UTF-8 text file. For a large file, read a part of it: offset is the first line (from 1), limit the number of lines.',
    schema,
    // Decoded for this call.
    returnsWholeText: true,
    ...modelBudget(options, 'Read a part of it with offset and limit (lines).'),
    async execute({ path, offset, limit }, ctx) {
      const { maxOutputBytes, timeoutMs } = limitsFor(ctx, options)
      const isPart = offset !== undefined || limit !== undefined
      try {
        return await withFiles(ctx, options, (files) =>
          isPart
            ? readPart(files, { path, offset, limit, maxOutputBytes, timeoutMs }, ctx.abortSignal)
            : files.readText(path, { maxBytes: maxOutputBytes }),
        )
      } catch (error) {
        throw isSmithersError(error) && error.code === 'TOOL_FILE_TOO_LARGE'
          ? tooLarge(error, path, isPart)
          : error
      }
    },
  })
}

interface PartRequest extends ReadInput {
  readonly maxOutputBytes: number
  readonly timeoutMs: number
}

async function readPart(
  files: SandboxFiles,
  { path, offset, limit, maxOutputBytes, timeoutMs }: PartRequest,
  signal: AbortSignal,
): Promise<string> {
  const startLine = offset ?? 1
  // Lines may be far into a file of any size.
  const deadline = AbortSignal.timeout(timeoutMs)
  try {
    const { text, totalLines } = await files.readLines(path, {
      startLine,
      endLine: limit === undefined ? undefined : startLine + limit - 1,
      maxBytes: maxOutputBytes,
      abortSignal: AbortSignal.any([signal, deadline]),
    })
    if (totalLines !== undefined && startLine > Math.max(totalLines, 1)) {
      throw offsetPastEnd(path, startLine, totalLines)
    }
    return text
  } catch (error) {
    if (deadline.aborted && error === deadline.reason) throw timedOut(path, timeoutMs)
    if (signal.aborted && error === signal.reason) throw aborted(path, signal)
    throw error
  }
}

/** Reads a UTF-8 file. */
export const read: DefinedTool<ReadInput, string> = createReadTool(defaultOptions)

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

function tooLarge({ details, cause }: SmithersError, path: string, isPart: boolean): SmithersError {
  const [bytes, maxBytes] = [Number(details['bytes']), Number(details['maxBytes'])]
  const message = isPart
    ? `File too large: these lines of ${JSON.stringify(path)} have more than ${maxBytes} bytes. Read fewer: pass a smaller limit.`
    : `File too large: ${JSON.stringify(path)} has ${bytes} bytes, the limit is ${maxBytes}. Read a part with offset and limit (lines), or search it with grep.`
  return new SmithersError('TOOL_FILE_TOO_LARGE', message, { details, cause, effect: 'none' })
}
