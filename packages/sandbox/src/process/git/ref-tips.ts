import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import type { OpenRoot } from '../../files/open-root.ts'
import { readFileHead } from '../../files/io/read-file-head.ts'

/** Enough for any repository that people keep branches in. */
const maxTips = 20_000
const maxPackedBytes = 16 * 1024 * 1024
const hash = /^(?:[0-9a-f]{64}|[0-9a-f]{40})/u

/**
 * The commits that the refs of a repository name now. Read from the files of git without running it; a repository with
 * another store of refs has none.
 */
export function readRefTips(root: OpenRoot): readonly string[] {
  const git = gitDirectory(root)
  const tips = new Set<string>()
  const add = (text: string): void => {
    const name = hash.exec(text)?.[0]
    if (name !== undefined && tips.size < maxTips) tips.add(name)
  }
  add(textOf(`${git}/HEAD`))
  for (const line of textOf(`${git}/packed-refs`, maxPackedBytes).split('\n')) {
    add(line)
    // A tag's own commit.
    if (line.startsWith('^')) add(line.slice(1))
  }
  const pending = [`${git}/refs`]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (tips.size >= maxTips) break
    for (const entry of entriesOf(directory)) {
      if (entry.isDirectory()) pending.push(`${directory}/${entry.name}`)
      else if (entry.isFile()) add(textOf(`${directory}/${entry.name}`))
    }
  }
  return [...tips]
}

function gitDirectory({ rootDir, handle }: OpenRoot): string {
  const git = `${handle}/.git`
  const link = /^gitdir: ?(.+)/u.exec(textOf(git))?.[1]
  if (link === undefined) return git
  const own = posix.resolve(rootDir, link)
  const common = textOf(`${own}/commondir`).trim()
  return common === '' ? own : posix.resolve(own, common)
}

function textOf(path: string, maxBytes = 4_200): string {
  try {
    return readFileHead(path, maxBytes)?.toString('latin1') ?? ''
  } catch {
    return ''
  }
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}
