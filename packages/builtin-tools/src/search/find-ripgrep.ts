import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SmithersError, type SmithersErrorCode } from '@smithers/tool-core'

let found: string | undefined

/**
 * Returns the path of ripgrep: the binary of the package `@vscode/ripgrep`, else `rg` on `PATH`.
 *
 * @throws SmithersError with the code of the tool, when neither exists
 */
export async function ripgrepPath(code: SmithersErrorCode): Promise<string> {
  found ??= (await packagedRipgrep()) ?? ripgrepOnPath()
  if (found !== undefined) return found
  throw new SmithersError(
    code,
    `ripgrep was found neither in the package @vscode/ripgrep (is it installed with its optional dependencies, for ` +
      `${process.platform}-${process.arch}?) nor as rg on PATH. Install either: npm install @vscode/ripgrep, or your ` +
      `system's package "ripgrep". A bundle has to leave @smithers/builtin-tools external.`,
    { effect: 'none' },
  )
}

async function packagedRipgrep(): Promise<string | undefined> {
  try {
    // Turbopack would follow the package to its binary, read that as code, and fail.
    const { rgPath } = await import(
      /* webpackIgnore: true */ /* turbopackIgnore: true */ '@vscode/ripgrep'
    )
    return executable(rgPath) ? rgPath : undefined
  } catch {
    // The package throws when its binary for this platform is not installed.
    return undefined
  }
}

function ripgrepOnPath(): string | undefined {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg'
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find(executable)
}

function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
