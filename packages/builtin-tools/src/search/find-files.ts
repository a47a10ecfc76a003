import type { OutputChunk, RunResult, SandboxFiles } from '@smithers/sandbox'
import { beginCallPart, SmithersError, type ToolContext } from '@smithers/tool-core'
import { endedCommand } from '../bundle/command-part.ts'
import { limitsFor, type BundleOptions } from '../bundle/bundle-options.ts'
import { noteForModel } from '../model/model-notes.ts'
import { ripgrepPath } from './find-ripgrep.ts'
import { FoundPaths } from './found-paths.ts'
import type { GlobInput } from './glob-input.ts'
import { compileGlob } from './glob-pattern.ts'
import { withPathAdvice } from '../model/near-names.ts'
import { LineCollector } from './line-collector.ts'
import { incompleteNote, permittedMessages } from './ripgrep-messages.ts'
import { searchedPath, sharedGlobs, stopped, walkArguments } from './ripgrep-walk.ts'
import { withFiles, withSearchSandbox } from '../bundle/sandbox-for-context.ts'
import { maxMessageBytes } from './search-output.ts'

/** Paths in one result unless the call asks for another number. */
const defaultLimit = 200

/** Lists what ripgrep would search below a directory, as far as it matches, sorted by path. */
export async function findFiles(
  input: GlobInput,
  ctx: ToolContext,
  options: BundleOptions,
): Promise<string> {
  const program = await ripgrepPath('TOOL_GLOB_FAILED')
  const matcher = compileGlob(input.pattern)
  return withFiles(ctx, options, (files) =>
    withSearchSandbox(ctx, options, program, async (sandbox) => {
      const given = input.path ?? '.'
      const path = await withPathAdvice(files, given, () => searchedDirectory(given, files))
      const base = path.slice(2)
      const found = new FoundPaths({
        base,
        matches: matcher,
        onlyDirectories: input.pattern.endsWith('/'),
        isDenied: (fromRoot) => files.isDenied(fromRoot),
      })
      const messages = new LineCollector(maxMessageBytes, 'rg: ')
      const { timeoutMs, maxOutputBytes } = limitsFor(ctx, options)
      const isHidden = input.hidden ?? /(?:^|[/{,])\.[^./]/u.test(input.pattern)
      const args = [
        '--files',
        '--null',
        ...walkArguments(path, isHidden),
        ...sharedGlobs(options.files?.deny ?? []),
        '--',
        path,
      ]
      const part = beginCallPart(ctx, 'rg', { 'process.command': 'rg' })
      const running = sandbox.run(program, args, {
        access: 'read',
        timeoutMs,
        maxOutputBytes: maxMessageBytes,
        signal: ctx.abortSignal,
        onOutput: ({ stream, bytes }: OutputChunk) => {
          if (stream === 'stdout') found.push(bytes)
          else messages.push(bytes)
        },
      })
      const result = await endedCommand(part, running, [0, 1])
      if (result.status !== 'exited') throw stopped(result, program, 'TOOL_GLOB_FAILED')
      const limit = input.limit ?? defaultLimit
      const isConfined = sandbox.report.enforced.files === 'enforced'
      const said = hasSearchedAll(result) ? '' : messages.text().trimEnd()
      const missing = await permittedMessages(said, files, isConfined)
      const note = missing === '' ? '' : `${incompleteNote(missing)}\n`
      const text = (await shownPaths(found, files, { limit, maxOutputBytes })) + note
      if (text === '') noteForModel(ctx.toolCallId, emptyNote(input, found))
      return text
    }),
  )
}

/** 1 means that there is no file. */
function hasSearchedAll({ exitCode }: RunResult): boolean {
  return exitCode === 0 || exitCode === 1
}

async function searchedDirectory(path: string, files: SandboxFiles): Promise<string> {
  const { kind } = await files.stat(path)
  if (kind === 'directory') return searchedPath(path, files)
  throw new SmithersError(
    'TOOL_NOT_A_FILE',
    `${JSON.stringify(path)} is a ${kind}, not a directory. Pass the directory to look in.`,
    { details: { path, kind }, effect: 'none' },
  )
}

/** The first paths, each confirmed by the file guard, since ripgrep can be led out of the root. */
async function shownPaths(
  found: FoundPaths,
  files: SandboxFiles,
  { limit, maxOutputBytes }: { readonly limit: number; readonly maxOutputBytes: number },
): Promise<string> {
  // A directory may be denied whose files are not.
  const paths = found.sorted().filter((path) => !files.isDenied(path))
  const lines: string[] = []
  let bytes = 0
  let seen = 0
  for (const path of paths) {
    const line = await confirmedLine(path, files)
    const size = line === undefined ? 0 : Buffer.byteLength(line) + 1
    if (lines.length === limit || bytes + size > maxOutputBytes) break
    seen += 1
    if (line === undefined) continue
    lines.push(line)
    bytes += size
  }
  const rest = paths.length - seen
  if (rest > 0) lines.push(`[${rest} more. Narrow the pattern or the path, or raise limit.]`)
  return lines.map((line) => `${line}\n`).join('')
}

/** The path as shown, directories with a slash at the end; undefined when the guard does not find it. */
async function confirmedLine(path: string, files: SandboxFiles): Promise<string | undefined> {
  try {
    const { kind, path: resolved } = await files.stat(path, { followLink: false })
    if (resolved !== path || (kind !== 'file' && kind !== 'directory')) return undefined
    return kind === 'directory' ? `${path}/` : path
  } catch {
    return undefined
  }
}

/** What a model reads in place of an empty result. */
function emptyNote({ pattern, path = '.' }: GlobInput, { visited, below }: FoundPaths): string {
  const seen = `${visited} ${visited === 1 ? 'file' : 'files'} seen; ignored files skipped`
  const what = `No path below ${JSON.stringify(path)} matches ${JSON.stringify(pattern)} (${seen}).`
  return below === 0
    ? what
    : `${what} ${below} would match ${JSON.stringify(`**/${pattern.replace(/^\/+/u, '')}`)}.`
}
