import { SmithersError } from '@smithers/tool-core'

const maxShownLength = 160

/**
 * The refusal of a patch. `message` quotes lines so that a model can repair its patch; `logMessage` says the same without
 * contents, since patches are never stored.
 */
export function patchFailed(
  reason: string,
  options: {
    readonly logReason?: string
    readonly details?: Readonly<Record<string, unknown>>
  } = {},
): SmithersError {
  const { logReason, details } = options
  return new SmithersError('TOOL_PATCH_FAILED', `Failed to apply patch: ${reason}`, {
    ...(logReason === undefined ? {} : { logMessage: `Failed to apply patch: ${logReason}` }),
    ...(details === undefined ? {} : { details }),
    effect: 'none',
  })
}

/** A line as a message shows it: quoted, so that blanks and tabs can be seen, and cut when long. */
export function quoteLine(line: string | undefined): string {
  if (line === undefined) return 'the end of the file'
  return JSON.stringify(line.length > maxShownLength ? `${line.slice(0, maxShownLength)}…` : line)
}
