import { type DefinedTool, defineTool } from '@smithers/tool-core'
import { z } from 'zod'
import { defaultOptions, type BundleOptions } from './bundle-options.ts'
import type { GrepInput } from './grep-input.ts'

/** No program can be given one as an argument. */
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
  literal: z.boolean().optional().describe('Take the pattern as plain text.'),
  context: z.int().min(0).max(100).optional().describe('Lines around each match.'),
  hidden: z.boolean().optional().describe('Search hidden files too.'),
})

/**
 * Creates the tool `grep` with other settings.
 *
 * @throws SmithersError `TOOL_GREP_FAILED` when ripgrep is missing or refuses the pattern; `TOOL_FILE_NOT_FOUND`,
 * `TOOL_NOT_A_FILE` for a pipe or device; `TOOL_PATH_ESCAPE`, `TOOL_PATH_DENIED`, `TOOL_TIMEOUT`, `TOOL_ABORTED`
 */
export function createGrepTool(settings: BundleOptions): DefinedTool<GrepInput, string> {
  return defineTool({
    name: 'grep',
    description:
      'Search files with ripgrep. Returns matching lines as path:line:text, or an empty string when nothing matches. ' +
      'Files that .gitignore names are skipped.',
    schema,
    async execute(input, ctx) {
      // With the first search: who only imports the tools does not wait for it.
      const { searchWithRipgrep } = await import('./ripgrep.ts')
      return searchWithRipgrep(input, ctx, settings)
    },
  })
}

/** Searches files under the root with ripgrep (S0 §grep). */
export const grep: DefinedTool<GrepInput, string> = createGrepTool(defaultOptions)
