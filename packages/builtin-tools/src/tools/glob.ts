import { type DefinedTool, defineTool } from '@smithers/tool-core'
import { z } from 'zod'
import { defaultOptions, modelBudget, type BundleOptions } from '../bundle/bundle-options.ts'
import { noteOf } from '../model/model-notes.ts'
import type { GlobInput } from '../search/glob-input.ts'
import { modelText } from '../model/model-text.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'

const schema = z.object({
  pattern: z
    .string()
    .min(1)
    .max(1_024)
    .describe(
      'A glob relative to path: "*.ts" in path itself, "**/*.ts" at any depth, "*/" directories.',
    ),
  path: z
    .string()
    .min(1)
    .max(4_096)
    .optional()
    .describe('Directory to look in. Default: the root.'),
  limit: z.int().min(1).max(10_000).optional().describe('Most paths in the result. Default: 200.'),
  hidden: z.boolean().optional().describe('List hidden files too.'),
})

/**
 * Creates the tool `glob` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_GLOB_FAILED` when ripgrep is missing or ended by a signal; `TOOL_FILE_NOT_FOUND`,
 * `TOOL_NOT_A_FILE` for a path that is not a directory; `TOOL_PATH_ESCAPE`, `TOOL_PATH_DENIED`, `TOOL_TIMEOUT`,
 * `TOOL_ABORTED`
 */
export function createGlobTool(options: BundleOptions): DefinedTool<GlobInput, string> {
  return defineTool({
    name: 'glob',
    description:
      'Find files and directories by name. Returns sorted paths from the root, one a line, directories with a slash at the end. ' +
      'Files ignored by .gitignore are skipped.',
    schema: argumentsOf(schema, options),
    ...modelBudget(options, 'Narrow the pattern or the path.'),
    async execute(input, ctx) {
      // Loaded with the first search, to keep importing the package fast.
      const { findFiles } = await import('../search/find-files.ts')
      return findFiles(input, ctx, options)
    },
    toModelOutput: (given) =>
      modelText(given, noteOf(given) ?? 'No path matches (ignored files skipped).'),
  })
}

/** Finds files and directories under the root. */
export const glob: DefinedTool<GlobInput, string> = createGlobTool(defaultOptions)
