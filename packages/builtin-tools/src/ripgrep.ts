import type { OutputChunk } from '@smithers/sandbox'
import { SmithersError, type ToolContext } from '@smithers/tool-core'
import { ripgrepPath } from './find-ripgrep.ts'
import type { GrepInput } from './grep.ts'
import { LineCollector } from './line-collector.ts'
import { filesFor, searchSandboxFor } from './sandbox-for-context.ts'
import { limitsFor, type ToolSettings } from './tool-settings.ts'

/** Bytes of ripgrep's own messages that are worth showing. */
const maxMessageBytes = 4_000

/**
 * Runs ripgrep under the isolation of commands and returns `path:line:text` lines with paths from the root. It is
 * stopped, not drained, as soon as the limit is full.
 */
export async function searchWithRipgrep(
  input: GrepInput,
  ctx: ToolContext,
  settings: ToolSettings,
): Promise<string> {
  const program = await ripgrepPath()
  const path = await searchedPath(input.path ?? '.', ctx, settings)
  const sandbox = await searchSandboxFor(ctx, settings, program)
  const { maxOutputBytes, timeoutMs } = limitsFor(ctx, settings)

  const matches = new LineCollector(maxOutputBytes, './')
  const messages = new LineCollector(maxMessageBytes, 'rg: ')
  const full = new AbortController()
  const onOutput = ({ stream, bytes }: OutputChunk): void => {
    if (stream === 'stderr') messages.push(bytes)
    else if (!matches.push(bytes)) full.abort()
  }
  const result = await sandbox.run(program, ripgrepArguments(input, path, settings), {
    timeoutMs,
    maxOutputBytes: maxMessageBytes,
    signal: AbortSignal.any([ctx.abortSignal, full.signal]),
    onOutput,
  })
  if (full.signal.aborted) return matches.text()
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
  // 1 is "nothing found".
  if (result.exitCode === 0 || result.exitCode === 1) return text
  const message = messages.text().trimEnd()
  if (text === '') {
    throw new SmithersError(
      'TOOL_GREP_FAILED',
      `ripgrep failed: ${message === '' ? `it exited with code ${result.exitCode}` : message}`,
      { details: { exitCode: result.exitCode, pattern: input.pattern }, effect: 'none' },
    )
  }
  return matches.textWithNote(`[ripgrep could not search everything: ${message}]`)
}

/** The path as ripgrep gets it: from the root and beginning with `./`, so that it can never be read as an option. */
async function searchedPath(
  path: string,
  ctx: ToolContext,
  settings: ToolSettings,
): Promise<string> {
  const { path: fromRoot } = await (await filesFor(ctx, settings)).stat(path)
  return `./${fromRoot}`
}

function ripgrepArguments(input: GrepInput, path: string, settings: ToolSettings): string[] {
  const wholeRoot = path === './'
  return [
    // A configuration file could add a program to run (--pre).
    '--no-config',
    '--no-ignore-global',
    // Ignore files above the root are none of ours; those between the root and a folder in it are.
    ...(wholeRoot ? ['--no-ignore-parent'] : []),
    // The root may be a part of a repository, its .git outside.
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
    // Last, since the last glob that matches decides.
    ...(settings.files?.deny ?? []).map((glob) => `--glob=!${glob}`),
    '--',
    input.pattern,
    path,
  ]
}
