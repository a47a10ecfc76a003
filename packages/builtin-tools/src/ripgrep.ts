import { once } from 'node:events'
import type { RunResult, Sandbox, SandboxFiles } from '@smithers/sandbox'
import { SmithersError, type ToolContext } from '@smithers/tool-core'
import { ripgrepPath } from './find-ripgrep.ts'
import type { GrepInput } from './grep-input.ts'
import { withPathAdvice } from './near-names.ts'
import { searchedPath, sharedGlobs, stopped, walkArguments } from './ripgrep-walk.ts'
import { withFiles, withSearchSandbox } from './sandbox-for-context.ts'
import { maxMessageBytes, SearchOutput } from './search-output.ts'
import { limitsFor, type BundleOptions } from './bundle-options.ts'

/**
 * Runs ripgrep under the isolation of commands and returns `path:line:text` lines with paths relative to the root. Stops
 * ripgrep as soon as the output limit is reached.
 */
export async function searchWithRipgrep(
  input: GrepInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<string> {
  const program = await ripgrepPath()
  return withFiles(ctx, options, (files) =>
    withSearchSandbox(ctx, options, program, (sandbox) =>
      search({ input, ctx, options, program, files, sandbox }),
    ),
  )
}

interface Search {
  readonly input: GrepInput
  readonly ctx: ToolContext
  readonly options: BundleOptions
  readonly program: string
  readonly files: SandboxFiles
  readonly sandbox: Sandbox
}

async function search({ input, ctx, options, program, files, sandbox }: Search): Promise<string> {
  const given = input.path ?? '.'
  const path = await withPathAdvice(files, given, () => searchedPath(given, files))
  const { maxOutputBytes, timeoutMs } = limitsFor(ctx, options)

  // Without isolation a path of ripgrep can be exchanged under it, so its output is confirmed by the file guard.
  const isConfined = sandbox.report.enforced.files === 'enforced'
  const isJson = !isConfined || hasDenied(options)
  const hasContext = (input.context ?? 0) > 0
  const output = new SearchOutput({ files, isConfined, isJson, hasContext, maxOutputBytes })
  const run = sandbox.run(
    program,
    ripgrepArguments(input, path, { options, isJson, maxOutputBytes }),
    {
      access: 'read',
      timeoutMs,
      maxOutputBytes: maxMessageBytes,
      signal: AbortSignal.any([ctx.abortSignal, output.full]),
      onOutput: output.take,
    },
  )
  let result: RunResult | undefined
  try {
    // At the limit ripgrep gets SIGKILL. Return without waiting for its end.
    const first = await Promise.race([run, once(output.full, 'abort').then(() => undefined)])
    result = output.full.aborted ? undefined : first
  } finally {
    await output.close()
  }
  if (result !== undefined && result.status !== 'exited')
    throw stopped(result, program, 'TOOL_GREP_FAILED')
  return shownText(output, result, { input, files, isConfined })
}

/** What the search found, with a note when a part of the files could not be searched. */
async function shownText(
  { matches, messages }: SearchOutput,
  result: RunResult | undefined,
  { input, files, isConfined }: Pick<Search, 'input' | 'files'> & { isConfined: boolean },
): Promise<string> {
  const text = matches.text()
  // 1 means "no match".
  if (result === undefined || result.exitCode === 0 || result.exitCode === 1) return text
  const said = messages.text().trimEnd()
  const permittedSaid = withoutDenied(said, (name) => files.isDenied(name))
  const message = isConfined ? permittedSaid : await withoutUnseen(permittedSaid, files)
  // Isolation keeps ripgrep from opening denied files, so these failures are expected.
  if (message === '' && said !== '') return text
  if (text === '') throw failed(message, result.exitCode, input.pattern)
  return matches.textWithNote(`[ripgrep could not search everything: ${message}]`)
}

function failed(message: string, exitCode: number | null, pattern: string): SmithersError {
  return new SmithersError(
    'TOOL_GREP_FAILED',
    `ripgrep failed: ${message === '' ? `it exited with code ${exitCode}` : message}`,
    { details: { exitCode, pattern }, effect: 'none' },
  )
}

/**
 * ripgrep's messages about files that the guard finds too. The reason is dropped: it may quote an ignore file from
 * outside. A message that begins otherwise is about the pattern and came before any search.
 */
async function withoutUnseen(messages: string, files: SandboxFiles): Promise<string> {
  if (!messages.startsWith('./')) return messages
  const paths = messages.split('\n').flatMap((line) => /^\.\/(.+?): /u.exec(line)?.[1] ?? [])
  const seen: string[] = []
  for (const path of new Set(paths)) {
    if (await files.exists(path).catch(() => false)) seen.push(`./${path}: not searched`)
  }
  return seen.join('\n')
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

function ripgrepArguments(
  input: GrepInput,
  path: string,
  {
    options,
    isJson,
    maxOutputBytes,
  }: {
    readonly options: BundleOptions
    readonly isJson: boolean
    readonly maxOutputBytes: number
  },
): string[] {
  return [
    ...walkArguments(path, input.hidden === true),
    '--line-number',
    '--with-filename',
    '--no-heading',
    '--color=never',
    // ripgrep keeps the matches of a file in memory until its end. More than this exceed the limit, since the shortest
    // line, such as "f:1:", has five bytes.
    `--max-count=${Math.ceil(maxOutputBytes / 5) + 1}`,
    ...(input.ignoreCase === true ? ['--ignore-case'] : []),
    ...(input.literal === true ? ['--fixed-strings'] : []),
    ...(input.context === undefined ? [] : [`--context=${input.context}`]),
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    ...(isJson ? ['--json'] : []),
    // Last, since the last glob that matches decides.
    ...sharedGlobs(options.files?.deny ?? []),
    '--',
    input.pattern,
    path,
  ]
}
