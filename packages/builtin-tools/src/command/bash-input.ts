import { z } from 'zod'

/** Input of {@link bash}: either `cmd`, or `command`. */
export interface BashInput {
  /** Executable name or path; at most 8 192 characters. */
  readonly cmd?: string | undefined
  /** At most 128 arguments of at most 8 192 characters each. */
  readonly args?: string[] | undefined
  /** A script for `sh -c`, at most 100 000 characters. */
  readonly command?: string | undefined
  /** Milliseconds; more than the time limit of the context counts as that. @default the context's */
  readonly timeoutMs?: number | undefined
  readonly opts?: { readonly cwd?: string | undefined } | undefined
}

/** Only the operating system limits the total length of the arguments. */
const maxCommandLength = 8_192
const maxArguments = 128
const maxArgumentLength = 8_192
const maxScriptLength = 100_000
const maxCwdLength = 1_024

const fields = {
  cmd: z
    .string()
    .min(1)
    .max(maxCommandLength)
    .optional()
    .describe('Executable name or path. No shell parsing.'),
  args: z
    .array(z.string().max(maxArgumentLength))
    .max(maxArguments)
    .optional()
    .describe('Arguments of cmd, one per entry.'),
  command: z
    .string()
    .min(1)
    .max(maxScriptLength)
    .optional()
    .describe('A script that sh runs, instead of cmd and args.'),
  timeoutMs: z.int().min(1).optional().describe('Kill it after this many milliseconds.'),
  opts: z
    .object({
      cwd: z.string().max(maxCwdLength).optional().describe('Working directory under the root.'),
    })
    .optional(),
}

export const bashSchema: z.ZodType<BashInput> = z.object(fields).superRefine(eitherForm)

export const backgroundBashSchema: z.ZodType<BackgroundBashInput> = z
  .object({
    ...fields,
    background: z
      .boolean()
      .optional()
      .describe(
        'Leave it running and return its id, for watchers and long builds. Then timeoutMs may be an hour.',
      ),
  })
  .superRefine(eitherForm)

function eitherForm(
  { cmd, args, command }: BashInput,
  context: { addIssue(issue: { code: 'custom'; path: string[]; message: string }): void },
): void {
  const message =
    cmd === undefined && command === undefined
      ? 'Pass cmd (with args), or command'
      : command !== undefined && (cmd !== undefined || args !== undefined)
        ? 'Pass either cmd with args, or command alone'
        : undefined
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['cmd'], message })
}

/** Input of `bash` of {@link createCommandTools}. */
export interface BackgroundBashInput extends BashInput {
  /** Return at once with an id for `bash_output` and `bash_kill`; the command ends with the run. @default false */
  readonly background?: boolean | undefined
}

/** What is started. */
export function commandOf({ cmd, args, command }: BashInput): {
  readonly cmd: string
  readonly args: readonly string[]
} {
  return command === undefined
    ? { cmd: cmd ?? '', args: args ?? [] }
    : { cmd: 'sh', args: ['-c', command] }
}

/** What was started, as a message names it. */
export function nameOf({ cmd, command }: BashInput): string {
  if (command === undefined) return cmd ?? ''
  const [line = ''] = command.trim().split('\n', 1)
  const isWhole = line === command.trim() && line.length <= 80
  return isWhole ? line : `${line.slice(0, 80)} …`
}
