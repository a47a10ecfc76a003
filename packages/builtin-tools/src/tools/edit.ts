import {
  adoptError,
  type DefinedTool,
  defineTool,
  fingerprint,
  SmithersError,
} from '@smithers/tool-core'
import { z } from 'zod'
import { editFile } from '../patch/edit-file.ts'
import { withPathAdvice } from '../model/near-names.ts'
import { withFiles } from '../bundle/sandbox-for-context.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'
import { defaultOptions, limitsFor, type BundleOptions } from '../bundle/bundle-options.ts'

/** Input of {@link edit}. */
export interface EditInput {
  /** From the root, or absolute beneath it. */
  readonly path: string
  /** A unified diff of this one file. Counts, numbers and headers may be missing or wrong where the lines decide. */
  readonly patch: string
}

const schema = z.object({
  path: z.string().describe('The file to patch, relative to the root or absolute within it.'),
  patch: z
    .string()
    .describe(
      'A unified diff of this file: hunks like "@@ -12,3 +12,4 @@", with unchanged lines around each change.',
    ),
})

/**
 * Creates the tool `edit` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_PATCH_FAILED`, `TOOL_PATCH_ALREADY_APPLIED`, `TOOL_PATCH_TOO_LARGE`, `TOOL_FILE_TOO_LARGE`, `TOOL_CONTENT_TOO_LARGE` for
 * the result, `TOOL_FILE_NOT_TEXT`, `TOOL_FILE_CHANGED`, `TOOL_FILE_NOT_FOUND`, `TOOL_NOT_A_FILE`, `TOOL_PATH_ESCAPE`,
 * `TOOL_PATH_INVALID`, `TOOL_PATH_DENIED`; the file is unchanged then
 */
export function createEditTool(options: BundleOptions): DefinedTool<EditInput, string> {
  return defineTool({
    name: 'edit',
    description:
      'Change an existing text file with a unified diff. Every hunk needs unchanged lines around it that match the file at one position only. Nothing is changed unless all hunks apply.',
    schema: argumentsOf(schema, options),
    sideEffect: true,
    idempotent: false,
    effectScope: 'workspace',
    approvalPreview: ({ patch }) => ({ patch }),
    logInput: ({ path, patch }) => ({ path, patch: fingerprint(patch) }),
    async execute({ path, patch }, ctx) {
      const { maxOutputBytes } = limitsFor(ctx, options)
      const { bytes } = fingerprint(patch)
      if (bytes > maxOutputBytes) {
        throw new SmithersError(
          'TOOL_PATCH_TOO_LARGE',
          `Patch too large: ${bytes} bytes, the limit is ${maxOutputBytes}. Split it into several edits.`,
          { details: { path, bytes, maxBytes: maxOutputBytes }, effect: 'none' },
        )
      }
      try {
        const change = { path, patch, maxBytes: maxOutputBytes }
        await withFiles(ctx, options, (files) =>
          withPathAdvice(files, path, () => editFile(files, change)),
        )
      } catch (error) {
        throw adoptError(error)
      }
      return 'ok'
    },
  })
}

/** Applies a unified diff to an existing file. */
export const edit: DefinedTool<EditInput, string> = createEditTool(defaultOptions)
