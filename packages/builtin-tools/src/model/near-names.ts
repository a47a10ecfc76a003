import type { SandboxFiles } from '@smithers/sandbox'
import { editDistance } from '@smithers/sandbox/options'
import { isSmithersError, SmithersError } from '@smithers/tool-core'

/** Names of a directory to compare, and to show. */
const maxCompared = 5_000
const maxSuggested = 3
const maxListed = 50

/**
 * Lets a call work with a path, and says more in the error when the path is missing or a directory: names that are close,
 * or what the directory has in it.
 */
export async function withPathAdvice<Result>(
  files: SandboxFiles,
  path: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw (isSmithersError(error) && (await adviceFor(files, path, error))) || error
  }
}

async function adviceFor(
  files: SandboxFiles,
  path: string,
  error: SmithersError,
): Promise<SmithersError | undefined> {
  const { code, details } = error
  // Only of this path: a tool may have failed at another one.
  if (details['path'] !== path) return undefined
  try {
    if (code === 'TOOL_FILE_NOT_FOUND') return missing(error, await nearPaths(files, path))
    if (code === 'TOOL_NOT_A_FILE' && details['kind'] === 'directory') {
      return isDirectory(error, path, await listing(files, path))
    }
    return undefined
  } catch {
    return undefined
  }
}

/** Existing paths that a missing one may mean: its first name that does not exist is replaced by a close one. */
async function nearPaths(files: SandboxFiles, path: string): Promise<readonly string[]> {
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  let parent = path.startsWith('/') ? '/' : ''
  for (const [index, name] of names.entries()) {
    if (await files.exists(parent + name).catch(() => false)) {
      parent += `${name}/`
      continue
    }
    const from = parent
    const entries = (await files.list(from === '' ? '.' : from)).slice(0, maxCompared)
    const rest = names.slice(index + 1)
    // A link that leads nowhere is listed, and does not exist.
    const others = entries.map((entry) => entry.name).filter((other) => other !== name)
    const near = closest(name, others)
    const candidates = near.map((other) => [from + other, ...rest].join('/'))
    const found: string[] = []
    for (const candidate of candidates) {
      if (await files.exists(candidate).catch(() => false)) found.push(candidate)
    }
    return found.length > 0 ? found : near.map((other) => from + other)
  }
  return []
}

function closest(name: string, others: readonly string[]): readonly string[] {
  const wanted = name.toLowerCase()
  const stem = wanted.replace(/\.[^.]*$/u, '')
  return others
    .map((other) => {
      const lower = other.toLowerCase()
      const isSameStem = stem !== '' && lower.replace(/\.[^.]*$/u, '') === stem
      const isSame = isSameStem || sortedLetters(lower) === sortedLetters(wanted)
      return { other, far: isSame ? 0 : editDistance(wanted.slice(0, 255), lower) }
    })
    .filter(({ other, far }) => far <= Math.max(1, Math.min(other.length, wanted.length) / 3))
    .toSorted((a, b) => a.far - b.far || (a.other < b.other ? -1 : 1))
    .slice(0, maxSuggested)
    .map(({ other }) => other)
}

function sortedLetters(name: string): string {
  return Array.from(name).toSorted().join('')
}

async function listing(files: SandboxFiles, path: string): Promise<string> {
  const entries = await files.list(path)
  if (entries.length === 0) return 'It is empty.'
  const shown = entries
    .slice(0, maxListed)
    .map(({ name, kind }) => JSON.stringify(kind === 'directory' ? `${name}/` : name))
  const more = entries.length > maxListed ? ` and ${entries.length - maxListed} more` : ''
  return `It has ${shown.join(', ')}${more}.`
}

function missing(
  { message, details, effect, cause }: SmithersError,
  near: readonly string[],
): SmithersError | undefined {
  if (near.length === 0) return undefined
  const names = near.map((path) => JSON.stringify(path)).join(' or ')
  return new SmithersError('TOOL_FILE_NOT_FOUND', `${message} Did you mean ${names}?`, {
    details: { ...details, near },
    cause,
    ...(effect === undefined ? {} : { effect }),
  })
}

function isDirectory(
  { details, effect, cause }: SmithersError,
  path: string,
  contents: string,
): SmithersError {
  return new SmithersError(
    'TOOL_NOT_A_FILE',
    `${JSON.stringify(path)} is a directory, not a regular file. ${contents}`,
    { details, cause, ...(effect === undefined ? {} : { effect }) },
  )
}
