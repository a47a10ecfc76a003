import { once } from 'node:events'
import type { RunResult, Sandbox, SandboxFiles } from '@smithers/sandbox'
import { beginCallPart, SmithersError, type ToolContext } from '@smithers/tool-core'
import { endedCommand } from '../bundle/command-part.ts'
import { noteForModel } from '../model/model-notes.ts'
import { ripgrepPath } from './find-ripgrep.ts'
import type { GrepInput } from './grep-input.ts'
import { withPathAdvice } from '../model/near-names.ts'
import { incompleteNote, permittedMessages } from './ripgrep-messages.ts'
import {
  knowsAllDenied,
  searchedPath,
  sharedGlobs,
  stopped,
  walkArguments,
} from './ripgrep-walk.ts'
import { withFiles, withSearchSandbox } from '../bundle/sandbox-for-context.ts'
import { maxMessageBytes, SearchOutput } from './search-output.ts'
import type { ResultShape } from './shaped-matches.ts'
import { limitsFor, type BundleOptions } from '../bundle/bundle-options.ts'

/**
 * Runs ripgrep under the isolation of commands and returns `path:line:text` lines with paths relative to the root. Stops
 * ripgrep as soon as the output limit is reached.
 */
export async function searchWithRipgrep(
  input: GrepInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<string> {
  const program = await ripgrepPath('TOOL_GREP_FAILED')
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
  const isJson = !isConfined || hasDenied(options) || isShaped(input, options)
  const hasContext = contextOf(input) > 0
  const shape = shapeOf(input, options)
  const output = new SearchOutput({ files, isConfined, isJson, hasContext, maxOutputBytes, shape })
  const part = beginCallPart(ctx, 'rg', { 'process.command': 'rg' })
  const running = sandbox.run(
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
  // 1 means that nothing matched.
  const run = endedCommand(part, running, [0, 1])
  let result: RunResult | undefined
  try {
    // At the limit ripgrep gets SIGKILL. Return without waiting for its end.
    const first = await Promise.race([run, once(output.full, 'abort').then(() => undefined)])
    result = output.full.aborted ? undefined : first
  } finally {
    if (output.full.aborted) part.end({ 'smithers.search.cut': true })
    await output.close()
  }
  if (result !== undefined && result.status !== 'exited')
    throw stopped(result, program, 'TOOL_GREP_FAILED')
  const text = await shownText(output, result, { input, files, isConfined })
  if (text === '') {
    // ripgrep counts the files that it was not told to skip, so also those that are denied by other globs.
    const searched = knowsAllDenied(options.files?.deny) ? output.searchedFiles : undefined
    noteForModel(ctx.toolCallId, noMatches(searched))
  }
  return text
}

/** What a model reads in place of an empty result. */
function noMatches(searched: number | undefined): string {
  const files =
    searched === undefined ? '' : `${searched} ${searched === 1 ? 'file' : 'files'} searched; `
  return `No matches (${files}ignored files skipped).`
}

/** Bytes of a line that are shown with `paging`: generated files have lines of megabytes. */
const maxShownLineBytes = 2_000

function shapeOf(
  { mode = 'lines', limit = Infinity }: GrepInput,
  { paging }: BundleOptions,
): ResultShape {
  return { mode, limit, maxLineBytes: paging === true ? maxShownLineBytes : Infinity }
}

/** Whether the result is more than what ripgrep prints. */
function isShaped({ mode, limit, multiline }: GrepInput, { paging }: BundleOptions): boolean {
  return (
    paging === true || multiline === true || limit !== undefined || (mode ?? 'lines') !== 'lines'
  )
}

/** What the search found, with a note when a part of the files could not be searched. */
async function shownText(
  output: SearchOutput,
  result: RunResult | undefined,
  { input, files, isConfined }: Pick<Search, 'input' | 'files'> & { isConfined: boolean },
): Promise<string> {
  const { matches, messages } = output
  const text = output.text()
  // 1 means "no match".
  if (result === undefined || result.exitCode === 0 || result.exitCode === 1) return text
  const said = messages.text().trimEnd()
  const message = await permittedMessages(said, files, isConfined)
  // Isolation keeps ripgrep from opening denied files, so these failures are expected.
  if (message === '' && said !== '') return text
  if (text === '') throw failed(message, result.exitCode, input.pattern)
  return matches.textWithNote(incompleteNote(message))
}

function failed(message: string, exitCode: number | null, pattern: string): SmithersError {
  return new SmithersError(
    'TOOL_GREP_FAILED',
    `ripgrep failed: ${message === '' ? `it exited with code ${exitCode}` : message}`,
    { details: { exitCode, pattern }, effect: 'none' },
  )
}

function hasDenied({ files }: BundleOptions): boolean {
  return (files?.deny ?? []).length > 0
}

/** Only lines have others around them. */
function contextOf({ mode = 'lines', context = 0 }: GrepInput): number {
  return mode === 'lines' ? context : 0
}

function mostInOneFile({ mode, limit }: GrepInput, maxOutputBytes: number): number {
  if (mode === 'files') return 1
  if (mode === 'count') return Number.MAX_SAFE_INTEGER
  return Math.min(Math.ceil(maxOutputBytes / 5), limit ?? Infinity) + 1
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
    `--max-count=${mostInOneFile(input, maxOutputBytes)}`,
    // One file after the other, so that equal calls give equal results, even where the limit cuts them.
    '--sort=path',
    ...(input.multiline === true ? ['--multiline', '--multiline-dotall'] : []),
    ...(input.ignoreCase === true ? ['--ignore-case'] : []),
    ...(input.literal === true ? ['--fixed-strings'] : []),
    ...(contextOf(input) === 0 ? [] : [`--context=${contextOf(input)}`]),
    ...(input.glob === undefined ? [] : [`--glob=${input.glob}`]),
    ...(isJson ? ['--json'] : []),
    // Last, since the last glob that matches decides.
    ...sharedGlobs(options.files?.deny ?? []),
    '--',
    input.pattern,
    path,
  ]
}
