import {
  type DefinedTool,
  defineTool,
  isSmithersError,
  SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import { z } from 'zod'
import type { SandboxFiles } from '@smithers/sandbox'
import { imageOf, isImagePath, readImage } from '../read/image-file.ts'
import { withPathAdvice } from '../model/near-names.ts'
import { numberedLines } from '../read/numbered-lines.ts'
import { readPage } from '../read/read-page.ts'
import { type PartRequest, readPart } from '../read/read-part.ts'
import { withFiles } from '../bundle/sandbox-for-context.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'
import {
  defaultOptions,
  limitsFor,
  modelBudget,
  type BundleOptions,
} from '../bundle/bundle-options.ts'

/** Input of {@link read}. */
export interface ReadInput {
  /** From the root, or absolute beneath it. */
  readonly path: string
  /** The first line, counted from 1. @default 1 */
  readonly offset?: number | undefined
  /** How many lines. @default all */
  readonly limit?: number | undefined
  /** Put the number of each line in front of it, and a tab. @default false */
  readonly numbered?: boolean | undefined
}

const schema = z.object({
  path: z.string().describe('File path, relative to the root or absolute within it.'),
  offset: z.int().min(1).optional().describe('First line to read, counted from 1.'),
  limit: z.int().min(1).optional().describe('How many lines to read.'),
  numbered: z.boolean().optional().describe('Put line numbers in front of the lines.'),
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
      'Read a UTF-8 text file. For a large file, read a part of it: offset is the first line (from 1), limit the number of lines.' +
      (options.paging === true ? ' Without a limit, as much as fits. Shows images too.' : ''),
    schema: argumentsOf(schema, options),
    // Decoded for this call.
    returnsWholeText: true,
    ...modelBudget(options, 'Read a part of it with offset and limit (lines).'),
    ...(options.paging === true ? { logOutput: loggedOutput } : {}),
    execute: ({ path, ...range }, ctx) =>
      withFiles(ctx, options, (files) =>
        withPathAdvice(files, path, () => readText(files, { path, ...range }, ctx, options)),
      ),
    toModelOutput: (given) => shownToModel(given, options),
  })
}

async function readText(
  files: SandboxFiles,
  { path, offset, limit, numbered = false }: ReadInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<string> {
  const { maxOutputBytes, timeoutMs } = limitsFor(ctx, options)
  const isPart = offset !== undefined || limit !== undefined
  try {
    if (options.paging === true) {
      const image = !isPart && isImagePath(path) ? await readImage(files, path) : undefined
      if (image !== undefined) return image
      const page = pageLimits(options, maxOutputBytes)
      const request = { path, offset, limit, numbered, timeoutMs, ...page }
      return await readPage(files, request, ctx.abortSignal)
    }
    const text = isPart
      ? await partText(files, { path, offset, limit, maxBytes: maxOutputBytes, timeoutMs }, ctx)
      : await files.readText(path, { maxBytes: maxOutputBytes })
    return numbered ? withNumbers(text, path, offset ?? 1, maxOutputBytes) : text
  } catch (error) {
    throw isSmithersError(error) && error.code === 'TOOL_FILE_TOO_LARGE'
      ? tooLarge(error, { path, isPart, isOneLine: limit === 1 || options.paging === true })
      : error
  }
}

async function partText(
  files: SandboxFiles,
  request: PartRequest,
  { abortSignal }: ToolContext,
): Promise<string> {
  return (await readPart(files, request, abortSignal)).text
}

/** A page is what a model reads of one result, so that no line of it is left out. */
function pageLimits(
  { modelBudget: budget }: BundleOptions,
  maxOutputBytes: number,
): { readonly maxBytes: number; readonly maxLines: number } {
  const { maxBytes = 50_000, maxLines = 2_000 } =
    budget === false ? { maxBytes: Infinity, maxLines: Infinity } : (budget ?? {})
  return { maxBytes: Math.min(maxBytes, maxOutputBytes), maxLines }
}

function withNumbers(text: string, path: string, first: number, maxBytes: number): string {
  const numbered = numberedLines(text, first)
  const bytes = Buffer.byteLength(numbered)
  if (bytes <= maxBytes) return numbered
  const details = { path, bytes, maxBytes }
  throw new SmithersError('TOOL_FILE_TOO_LARGE', '', { details, effect: 'none' })
}

/** A log keeps the kind and the size of an image. */
function loggedOutput(output: string): unknown {
  const image = imageOf(output)
  return image === undefined
    ? output
    : { mediaType: image.mediaType, base64Length: image.data.length }
}

interface GivenOutput {
  readonly output: string
}

/** An image as a part that the model sees, anything else as text. AI SDK 5 hands over the output alone. */
function shownToModel(given: GivenOutput | string, { paging }: BundleOptions) {
  const isAlone = typeof given === 'string'
  const output = isAlone ? given : given.output
  const image = paging === true ? imageOf(output) : undefined
  if (image === undefined)
    return { type: 'text' as const, value: output === '' ? '(empty file)' : output }
  const type = isAlone ? ('media' as const) : ('image-data' as const)
  return { type: 'content' as const, value: [{ type, ...image }] }
}

/** Reads a UTF-8 file. */
export const read: DefinedTool<ReadInput, string> = createReadTool(defaultOptions)

interface TooLargeRead {
  readonly path: string
  readonly isPart: boolean
  /** Fewer lines cannot be read. */
  readonly isOneLine: boolean
}

function tooLarge(error: SmithersError, { path, isPart, isOneLine }: TooLargeRead): SmithersError {
  const { details, cause } = error
  // Lines of an image show nothing.
  if (details['isImage'] === true) return error
  const [bytes, maxBytes] = [Number(details['bytes']), Number(details['maxBytes'])]
  const message = isOneLine
    ? `File too large: one line of ${JSON.stringify(path)} has more than ${maxBytes} bytes, so no part by lines fits. Search it with grep, or cut the line with a command.`
    : isPart
      ? `File too large: these lines of ${JSON.stringify(path)} have more than ${maxBytes} bytes. Read fewer: pass a smaller limit.`
      : `File too large: ${JSON.stringify(path)} has ${bytes} bytes, the limit is ${maxBytes}. Read a part with offset and limit (lines), or search it with grep.`
  return new SmithersError('TOOL_FILE_TOO_LARGE', message, { details, cause, effect: 'none' })
}
