import { once } from 'node:events'
import type { OutputChunk, SandboxFiles } from '@smithers/sandbox'
import { SmithersError, type ToolContext } from '@smithers/tool-core'
import { ripgrepPath } from './find-ripgrep.ts'
import type { GrepInput } from './grep-input.ts'
import { LineCollector } from './line-collector.ts'
import { PermittedMatches } from './permitted-matches.ts'
import { filesFor, searchSandboxFor } from './sandbox-for-context.ts'
import { limitsFor, type BundleOptions } from './bundle-options.ts'

/** Bytes of ripgrep's own messages to show. */
const maxMessageBytes = 4_000

/* * Runs ripgrep under the isolation of commands and returns `path:line:text` lines with paths relative to the root. Stops
 * ripgrep as soon as the output limit is reached.
 */
export async function searchWithRipgrep(
  input: GrepInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<string> {
  const program = await ripgrepPath()
  const files = await filesFor(ctx, options)
  const path = await searchedPath(input.path ?? '.', files)
  const sandbox = await searchSandboxFor(ctx, options, program)
  const { maxOutputBytes, timeoutMs } = limitsFor(ctx, options)

  const matches = new LineCollector(maxOutputBytes, './')
  const messages = new LineCollector(maxMessageBytes, 'rg: ')
  const full = new AbortController()
  const isDenied = (relativePath: string): boolean => files.isDenied(relativePath)
  const hasContext = (input.context ?? 0) > 0
  const permitted = hasDenied(options) ? new PermittedMatches({ isDenied, hasContext }) : undefined
  const onOutput = ({ stream, bytes }: OutputChunk): void => {
    if (stream === 'stderr') messages.push(bytes)
    else if (!matches.push(permitted?.push(bytes) ?? bytes)) full.abort()
  }
  const run = sandbox.run(program, ripgrepArguments(input, path, options), {
    access: 'read',
    timeoutMs,
    maxOutputBytes: maxMessageBytes,
    signal: AbortSignal.any([ctx.abortSignal, full.signal]),
    onOutput,
  })
  // At the limit ripgrep gets SIGKILL. Return without waiting for its end.
  const result = await Promise.race([run, once(full.signal, 'abort')])
  if (full.signal.aborted || Array.isArray(result)) return matches.text()
  if (result.status !== 'exited') {
    throw new SmithersError(
      result.error?.code ?? 'TOOL_GREP_FAILED',
      result.error === undefined
        ? `ripgrep was ended by ${result.signal}.`
        : result.error.message.replaceAll(program, 'rg'),
      {
        details: { status: result.status, signal: result.signal },
        cause: result.error,
        effect: 'none',
      },
    )
  }
  const text = matches.text()
  // 1 means "no match".
  if (result.exitCode === 0 || result.exitCode === 1) return text
  const said = messages.text().trimEnd()
  const message = withoutDenied(said, isDenied)
  // Isolation keeps ripgrep from opening denied files, so these failures are expected.
  if (message === '' && said !== '') return text
  if (text === '') {
    throw new SmithersError(
      'TOOL_GREP_FAILED',
      `ripgrep failed: ${message === '' ? `it exited with code ${result.exitCode}` : message}`,
      { details: { exitCode: result.exitCode, pattern: input.pattern }, effect: 'none' },
    )
  }
  return matches.textWithNote(`[ripgrep could not search everything: ${message}]`)
}

/* * The path for ripgrep: relative to the root and prefixed with `./`, so that it is never an option. Refuses pipes and
 * devices, on which ripgrep would wait.
 */
async function searchedPath(path: string, files: SandboxFiles): Promise<string> {
  const { path: fromRoot, kind } = await files.stat(path)
  if (kind === 'file' || kind === 'directory') return `./${fromRoot}`
  throw new SmithersError(
    'TOOL_NOT_A_FILE',
    `${JSON.stringify(path)} is a ${kind}, neither a file nor a directory. Search a file or a directory.`,
    { details: { path, kind }, effect: 'none' },
  )
}

/** ripgrep's messages without those about denied files. */
function withoutDenied(messages: string, isDenied: (relativePath: string) => boolean): string {
  const isPermitted = (line: string): boolean => {
    const end = line.indexOf(': ')
    return !line.startsWith('./') || end === -1 || !isDenied(line.slice(2, end))
  }
  return messages.split('\n').filter(isPermitted).join('\n')
}

function hasDenied({ files }: BundleOptions): boolean {
  return (files?.deny ?? []).length > 0
}

/** The deny globs that mean the same to ripgrep, so that it skips files whose matches would be dropped. */
function sharedGlobs(deny: readonly string[]): string[] {
  return deny
    .map((glob) => glob.replace(/^\.?\/+/u, '').replace(/\/+$/u, ''))
    .filter((glob) => /^(?:\*\*\/)?(?:[\w.-]+|\*\.\w+)(?:\/[\w.-]+)*$/u.test(glob))
    .map((glob) => `--glob=!/${glob}`)
}

function ripgrepArguments(input: GrepInput, path: string, options: BundleOptions): string[] {
  const wholeRoot = path === './'
  return [
    // A configuration file could name a program to run (--pre).
    '--no-config',
    '--no-ignore-global',
    // Ignore files above the root do not apply; those between the root and the searched folder do.
    ...(wholeRoot ? ['--no-ignore-parent'] : []),
    // The root may be a folder of a repository whose .git is outside.
    '--no-require-git',
    '--line-number',
    '--with-filename',
    '--no-heading',
    '--color=never',
    ...(input.ignoreCase === true ? ['--ignore-case'] : []),
    ...(input.literal === true ? ['--fixed-strings'] : []),
    ...(input.context === undefined ? [] : [`--context=${input.context}`]),
    ...(input.hidden === true ? ['--hidden', '--glob=!.git/'] : []),
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    ...(hasDenied(options) ? ['--json'] : []),
    // Last, since the last glob that matches decides.
    ...sharedGlobs(options.files?.deny ?? []),
    '--',
    input.pattern,
    path,
  ]
}
