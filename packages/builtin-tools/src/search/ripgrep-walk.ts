import type { RunResult, SandboxFiles } from '@smithers/sandbox'
import { SmithersError, type SmithersErrorCode } from '@smithers/tool-core'

/** The arguments that decide which files ripgrep visits below a path made by {@link searchedPath}. */
export function walkArguments(path: string, isHidden: boolean): readonly string[] {
  return [
    // A configuration file could name a program to run (--pre).
    '--no-config',
    '--no-ignore-global',
    // Ignore files above the root do not apply; those between the root and the searched folder do.
    ...(path === './' ? ['--no-ignore-parent'] : []),
    // The root may be a folder of a repository whose .git is outside.
    '--no-require-git',
    ...(isHidden ? ['--hidden', '--glob=!.git/'] : []),
  ]
}

/** The deny globs that mean the same to ripgrep, so that it skips files whose matches would be dropped. */
export function sharedGlobs(deny: readonly string[]): string[] {
  return deny
    .map((glob) => glob.replace(/^\.?\/+/u, '').replace(/\/+$/u, ''))
    .filter(isShared)
    .map((glob) => `--glob=!/${glob}`)
}

/** Whether ripgrep skips every denied file, so that what it counts says nothing about one. */
export function knowsAllDenied(deny: readonly string[] = []): boolean {
  return sharedGlobs(deny).length === deny.length
}

function isShared(glob: string): boolean {
  return /^(?:\*\*\/)?(?:[\w.-]+|\*\.\w+)(?:\/[\w.-]+)*$/u.test(glob)
}

/**
 * The path for ripgrep: relative to the root and prefixed with `./`, so that it is never an option. Refuses pipes and
 * devices, on which ripgrep would wait.
 */
export async function searchedPath(path: string, files: SandboxFiles): Promise<string> {
  const { path: fromRoot, kind } = await files.stat(path)
  if (kind === 'file' || kind === 'directory') return `./${fromRoot}`
  throw new SmithersError(
    'TOOL_NOT_A_FILE',
    `${JSON.stringify(path)} is a ${kind}, neither a file nor a directory. Search a file or a directory.`,
    { details: { path, kind }, effect: 'none' },
  )
}

/** The error for a run of ripgrep that did not come to its end. */
export function stopped(
  { error, status, signal }: RunResult,
  program: string,
  code: SmithersErrorCode,
): SmithersError {
  return new SmithersError(
    error?.code ?? code,
    error === undefined
      ? `ripgrep was ended by ${signal}.`
      : error.message.replaceAll(program, 'rg'),
    { details: { status, signal }, cause: error, effect: 'none' },
  )
}
