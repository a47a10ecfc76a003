import {
  adoptError,
  type DefinedTool,
  defineTool,
  fingerprint,
  SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import { z } from 'zod'
import { diffPreview } from '../patch/diff-preview.ts'
import { withFiles } from '../bundle/sandbox-for-context.ts'
import { argumentsOf } from '../bundle/strict-arguments.ts'
import { defaultOptions, limitsFor, type BundleOptions } from '../bundle/bundle-options.ts'

/** Input of {@link write}. */
export interface WriteInput {
  /** From the root, or absolute beneath it. */
  readonly path: string
  /** The whole file. */
  readonly content: string
}

const schema = z.object({
  path: z.string().describe('Destination path, relative to the root or absolute within it.'),
  content: z.string().describe('The whole contents of the file.'),
})

/**
 * Creates the tool `write` with the options of a bundle.
 *
 * @throws SmithersError `TOOL_CONTENT_TOO_LARGE` over `maxOutputBytes`, `TOOL_NOT_A_FILE`, `TOOL_PATH_ESCAPE`,
 * `TOOL_PATH_INVALID`, `TOOL_PATH_DENIED`, `TOOL_FILE_FAILED`
 */
export function createWriteTool(options: BundleOptions): DefinedTool<WriteInput, string> {
  return defineTool({
    name: 'write',
    description:
      'Write a file, replacing any existing contents; missing directories are created. To change a part of a file, use edit.',
    schema: argumentsOf(schema, options),
    sideEffect: true,
    idempotent: false,
    // The change is under the root, visible with `git diff`.
    effectScope: 'workspace',
    approvalPreview: (args, ctx) => previewWrite(args, ctx, options),
    logInput: ({ path, content }) => ({ path, content: fingerprint(content) }),
    async execute({ path, content }, ctx) {
      const { maxOutputBytes } = limitsFor(ctx, options)
      const { bytes } = fingerprint(content)
      if (bytes > maxOutputBytes) {
        throw new SmithersError(
          'TOOL_CONTENT_TOO_LARGE',
          `Content too large: ${bytes} bytes, the limit is ${maxOutputBytes}. Write less, or write the file in parts with a command.`,
          { details: { path, bytes, maxBytes: maxOutputBytes }, effect: 'none' },
        )
      }
      try {
        await withFiles(ctx, options, (files) => files.write(path, content))
      } catch (error) {
        throw adoptError(error)
      }
      return 'ok'
    },
  })
}

/** The difference to the file as it is; all of the content for a new file, and for one that is not text. */
async function previewWrite(
  { path, content }: WriteInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<{ readonly patch: string }> {
  const before = await withFiles(ctx, options, (files) => files.readText(path).catch(() => ''))
  return diffPreview(path, before, content)
}

/** Writes a file. */
export const write: DefinedTool<WriteInput, string> = createWriteTool(defaultOptions)
