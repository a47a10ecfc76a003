import { execFileSync } from 'node:child_process'

/** A change of one text file, as a commit made it. */
export interface Change {
  /** Its path in the repository. */
  readonly name: string
  readonly before: string
  readonly after: string
  /** The hunks that git writes for it. */
  readonly hunks: readonly DiffHunk[]
}

export interface DiffHunk {
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
  /** What git writes behind the numbers. */
  readonly heading: string
  readonly body: readonly string[]
}

/** At most `count` changes from the whole history of a repository, evenly spread. */
export function changesOf(repository: string, count: number): readonly Change[] {
  const git = (...args: string[]): Buffer =>
    execFileSync('git', ['-C', repository, ...args], { maxBuffer: 1_000_000_000 })
  const log = git('log', '--no-merges', '--diff-filter=M', '--raw', '--no-abbrev', '--format=')
  const entries = [...log.toString('utf8').matchAll(/^:\S+ 100\d{3} (\w+) (\w+) M\t(.+)$/gmu)]
  const step = Math.max(1, Math.floor(entries.length / (count * 1.1)))
  const changes: Change[] = []
  for (let index = 0; index < entries.length && changes.length < count; index += step) {
    const [, old = '', current = '', name = ''] = entries[index] ?? []
    const change = changeBetween(git, old, current, name)
    if (change !== undefined) changes.push(change)
  }
  return changes
}

function changeBetween(
  git: (...args: string[]) => Buffer,
  old: string,
  current: string,
  name: string,
): Change | undefined {
  let texts: readonly [string, string]
  let diff: string
  try {
    texts = [textOf(git('cat-file', 'blob', old)), textOf(git('cat-file', 'blob', current))]
    diff = textOf(git('diff', '--no-color', '--no-ext-diff', '-U3', old, current))
  } catch {
    // A blob that a shallow copy lacks, or one that is not UTF-8.
    return undefined
  }
  const hunks = hunksOf(diff)
  const [before, after] = texts
  if (hunks.length === 0 || after === '' || before === '') return undefined
  return { name, before, after, hunks }
}

function textOf(bytes: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

function hunksOf(diff: string): readonly DiffHunk[] {
  const hunks: (DiffHunk & { body: string[] })[] = []
  for (const line of diff.replace(/\n$/u, '').split('\n')) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/su.exec(line)
    if (header === null) {
      hunks.at(-1)?.body.push(line)
      continue
    }
    const [, oldStart, oldCount = '1', newStart, newCount = '1', heading = ''] = header
    hunks.push({
      oldStart: Number(oldStart),
      oldCount: Number(oldCount),
      newStart: Number(newStart),
      newCount: Number(newCount),
      heading,
      body: [],
    })
  }
  return hunks
}
