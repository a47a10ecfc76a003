import { readdirSync } from 'node:fs'
import picomatch from 'picomatch'

/**
 * The existing names under `rootDir` that the globs deny, from the root, for a backend to hide. A denied directory
 * stands for all that is in it.
 *
 * With globs this walks the tree before each command; without them it costs nothing. The walk only reads names: one
 * that another process swaps for a link meanwhile leads to names that do not exist under the root, and the backend
 * opens each without following links.
 */
export function findDenied(rootDir: string, globs: readonly string[]): readonly string[] {
  if (globs.length === 0) return []
  const matches = matcherOf(globs)
  const denied: string[] = []
  const pending = ['']
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    for (const entry of entriesOf(`${rootDir}/${directory}`)) {
      const name = directory === '' ? entry.name : `${directory}/${entry.name}`
      if (matches(name)) denied.push(name)
      else if (entry.isDirectory()) pending.push(name)
    }
  }
  return denied
}

const matchers = new Map<string, (name: string) => boolean>()

function matcherOf(globs: readonly string[]): (name: string) => boolean {
  const key = globs.join('\0')
  let matches = matchers.get(key)
  if (matches === undefined) {
    const tidy = globs.map((glob) => glob.replace(/^\.?\/+/, '').replace(/\/+$/, ''))
    matches = picomatch(tidy, { dot: true, strictSlashes: false })
    matchers.set(key, matches)
  }
  return matches
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    // Unreadable for us, so for the command too; or gone.
    return []
  }
}
