import { SmithersError } from '@smithers/tool-core'

const maxShownLength = 160

/**
 * Creates the error for a refused patch. `message` quotes lines so that a model can repair its patch; `logMessage` omits
 * them, since logs never store patches.
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

/** A line for a message: quoted, so that blanks and tabs are visible, and cut when long. */
export function quoteLine(line: string | undefined): string {
  if (line === undefined) return 'the end of the file'
  return JSON.stringify(line.length > maxShownLength ? `${line.slice(0, maxShownLength)}…` : line)
}

/** The error for a patch whose new lines are in the file already. */
export function alreadyApplied(path: string, lines: readonly number[]): SmithersError {
  const shown = lines.slice(0, 10).join(', ')
  const where = lines.length === 1 ? `line ${shown}` : `lines ${shown}`
  return new SmithersError(
    'TOOL_PATCH_ALREADY_APPLIED',
    `Patch already applied: ${JSON.stringify(path)} has its new text at ${where}. Nothing was changed. Read the file; if that is the change you meant, continue.`,
    { details: { path, lines }, effect: 'none' },
  )
}
