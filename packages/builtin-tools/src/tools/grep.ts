import { type DefinedTool, defineTool } from '@smithers/tool-core'
import { z } from 'zod'
import { defaultOptions, modelBudget, type BundleOptions } from '../bundle/bundle-options.ts'
import { noteOf } from '../model/model-notes.ts'
import type { GrepInput } from '../search/grep-input.ts'
import { modelText } from '../model/model-text.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'

/** Program arguments cannot contain NUL. */
function withoutNul(text: z.ZodString): z.ZodString {
  return text.refine((value) => !value.includes('\0'), 'must not contain a NUL character')
}

const schema = z.object({
  pattern: withoutNul(z.string().min(1).max(8_192)).describe('Regular expression to search for.'),
  path: z.string().min(1).max(4_096).optional().describe('Directory or file. Default: the root.'),
  glob: withoutNul(z.string().min(1).max(1_024))
    .optional()
    .describe('Only files that match, e.g. "*.ts".'),
  ignoreCase: z.boolean().optional(),
  literal: z.boolean().optional().describe('Treat the pattern as plain text.'),
  context: z.int().min(0).max(100).optional().describe('Lines around each match, in mode lines.'),
  hidden: z.boolean().optional().describe('Search hidden files too.'),
  mode: z
    .enum(['lines', 'files', 'count'])
    .optional()
    .describe('"files": only paths of files with a match; "count": path:number. Default: lines.'),
  limit: z.int().min(1).max(100_000).optional().describe('Most matching lines, or files.'),
  multiline: z.boolean().optional().describe('Let a match span lines.'),
})

/**
 * Creates the tool `grep` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_GREP_FAILED` when ripgrep is missing or refuses the pattern; `TOOL_FILE_NOT_FOUND`,
 * `TOOL_NOT_A_FILE` for a pipe or device; `TOOL_PATH_ESCAPE`, `TOOL_PATH_DENIED`, `TOOL_TIMEOUT`, `TOOL_ABORTED`
 */
export function createGrepTool(options: BundleOptions): DefinedTool<GrepInput, string> {
  return defineTool({
    name: 'grep',
    description:
      'Search files with ripgrep. Returns matching lines as path:line:text, or an empty string when nothing matches. ' +
      'Files ignored by .gitignore are skipped.',
    schema: argumentsOf(schema, options),
    ...modelBudget(options, 'Search for less: a narrower pattern, path or glob.'),
    async execute(input, ctx) {
      // Loaded with the first search, to keep importing the package fast.
      const { searchWithRipgrep } = await import('../search/ripgrep.ts')
      return searchWithRipgrep(input, ctx, options)
    },
    toModelOutput: (given) =>
      modelText(given, noteOf(given) ?? 'No matches (ignored files skipped).'),
  })
}

/** Searches files under the root with ripgrep. */
export const grep: DefinedTool<GrepInput, string> = createGrepTool(defaultOptions)
