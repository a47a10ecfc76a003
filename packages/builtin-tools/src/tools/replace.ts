import {
  adoptError,
  type DefinedTool,
  defineTool,
  fingerprint,
  SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import { z } from 'zod'
import { defaultOptions, limitsFor, type BundleOptions } from '../bundle/bundle-options.ts'
import { diffPreview } from '../patch/diff-preview.ts'
import { contentTooLarge, replacedText, type Replacement } from '../patch/replaced-text.ts'
import { withPathAdvice } from '../model/near-names.ts'
import { withFiles } from '../bundle/sandbox-for-context.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'

/** Input of {@link replace}. */
export interface ReplaceInput {
  /** From the root, or absolute beneath it. */
  readonly path: string
  /** The passage to replace, exactly as the file has it. */
  readonly oldText: string
  readonly newText: string
  /** Replace every occurrence; otherwise there must be exactly one. @default false */
  readonly replaceAll?: boolean | undefined
}

const schema = z.object({
  path: z.string().describe('The file to change, relative to the root or absolute within it.'),
  oldText: z
    .string()
    .min(1)
    .describe('The text to replace, exactly as in the file, with its blanks and line breaks.'),
  newText: z.string().describe('The text to put in its place.'),
  replaceAll: z
    .boolean()
    .optional()
    .describe('Replace every occurrence. Default: oldText must occur once.'),
})

/**
 * Creates the tool `replace` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_REPLACE_FAILED`, `TOOL_PATCH_ALREADY_APPLIED`, `TOOL_CONTENT_TOO_LARGE` for the texts or the
 * result, `TOOL_FILE_TOO_LARGE`, `TOOL_FILE_NOT_TEXT`, `TOOL_FILE_CHANGED`, `TOOL_FILE_NOT_FOUND`, `TOOL_NOT_A_FILE`,
 * `TOOL_PATH_ESCAPE`, `TOOL_PATH_INVALID`, `TOOL_PATH_DENIED`; the file is unchanged then
 */
export function createReplaceTool(options: BundleOptions): DefinedTool<ReplaceInput, string> {
  return defineTool({
    name: 'replace',
    description:
      'Replace a piece of text in an existing text file. oldText must occur exactly once, unless replaceAll is true. To change several parts at once, use edit.',
    schema: argumentsOf(schema, options),
    sideEffect: true,
    idempotent: false,
    effectScope: 'workspace',
    approvalPreview: (args, ctx) => previewReplace(args, ctx, options),
    logInput: ({ path, oldText, newText, replaceAll }) => ({
      path,
      oldText: fingerprint(oldText),
      newText: fingerprint(newText),
      ...(replaceAll === undefined ? {} : { replaceAll }),
    }),
    async execute({ path, oldText, newText, replaceAll = false }, ctx) {
      const { maxOutputBytes } = limitsFor(ctx, options)
      const bytes = fingerprint(oldText).bytes + fingerprint(newText).bytes
      if (bytes > maxOutputBytes)
        throw contentTooLarge('oldText and newText have', path, bytes, maxOutputBytes)
      if (oldText === newText) throw changesNothing(path)
      let lines: readonly number[] = []
      const change = (before: string): string => {
        const given = { path, oldText, newText, replaceAll }
        const replaced = replacedText(before, given, maxOutputBytes)
        lines = replaced.lines
        return replaced.text
      }
      try {
        await withFiles(ctx, options, (files) =>
          withPathAdvice(files, path, () =>
            files.updateText(path, change, { maxBytes: maxOutputBytes }),
          ),
        )
      } catch (error) {
        throw adoptError(error)
      }
      return replaceAll ? `ok, replaced at ${describeLines(lines)}` : 'ok'
    },
  })
}

/** The difference to the file as it is; the two texts when the call would be refused. */
async function previewReplace(
  { path, oldText, newText, replaceAll = false }: ReplaceInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<{ readonly patch: string }> {
  const change: Replacement = { path, oldText, newText, replaceAll }
  try {
    const before = await withFiles(ctx, options, (files) => files.readText(path))
    const { maxOutputBytes } = limitsFor(ctx, options)
    return await diffPreview(path, before, replacedText(before, change, maxOutputBytes).text)
  } catch {
    return diffPreview(path, oldText, newText)
  }
}

function describeLines(lines: readonly number[]): string {
  const shown = lines.slice(0, 50).join(', ')
  if (lines.length === 1) return `line ${shown}`
  return `lines ${shown}${lines.length > 50 ? ` and ${lines.length - 50} more` : ''}`
}

function changesNothing(path: string): SmithersError {
  return new SmithersError(
    'INVALID_INPUT',
    'oldText and newText are equal, so nothing would change. Pass the text as it should become as newText.',
    { details: { path }, effect: 'none' },
  )
}

/** Replaces a piece of text in a file. */
export const replace: DefinedTool<ReplaceInput, string> = createReplaceTool(defaultOptions)
