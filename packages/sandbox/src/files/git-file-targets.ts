import { posix } from 'node:path'
import { readFileHead } from './io/read-file-head.ts'
import type { OpenRoot } from './open-root.ts'

/** More than any path that a system call takes, and what git writes before it. */
const maxGitFileBytes = 4_200

/** The target of a `.git` file, if inside the root: as git reads it, and as programs do that are less exact. */
export function gitFileTargets({ rootDir, handle }: OpenRoot, directory = ''): readonly string[] {
  const text = gitFileText(`${handle}/${directory}`)
  if (!text.startsWith('gitdir:')) return []
  const written = text.slice('gitdir:'.length)
  const [firstLine = ''] = written.split('\n', 1)
  return [withoutLineEnds(written.replace(/^ /, '')), firstLine.trim()].flatMap((name) => {
    const target = posix.relative(rootDir, posix.resolve(rootDir, directory, name))
    return target !== '' && target !== '..' && !target.startsWith('../') ? [target] : []
  })
}

/**
 * The directories with the configuration of a repository whose `.git` is a file: its target, and for a linked worktree that
 * of its repository, which they share.
 */
export function repositoriesOfGitFile(root: OpenRoot, directory: string): readonly string[] {
  const targets = gitFileTargets(root, directory)
  const shared = targets.flatMap((target) => /^(.+)\/worktrees\/[^/]+$/u.exec(target)?.[1] ?? [])
  return [...new Set([...targets, ...shared])]
}

function gitFileText(directory: string): string {
  try {
    const text = readFileHead(`${directory}/.git`, maxGitFileBytes)?.toString('utf8') ?? ''
    // To git, which is written in C, a NUL ends it.
    return text.split('\0', 1)[0] ?? ''
  } catch {
    // It cannot be read: then it is protected itself, and no git of this user reads it either.
    return ''
  }
}

function withoutLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1
  return text.slice(0, end)
}
