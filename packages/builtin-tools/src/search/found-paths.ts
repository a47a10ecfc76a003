import type { PathMatcher } from './glob-pattern.ts'

/** Paths to keep of one search. A result shows far fewer. */
const maxKept = 100_000

/** Collects the matching paths, and the directories above them, from the output of `rg --files --null`. */
export class FoundPaths {
  readonly #base: string
  readonly #matches: PathMatcher
  readonly #onlyDirectories: boolean
  readonly #isDenied: (fromRoot: string) => boolean
  readonly #kept = new Set<string>()
  readonly #directories = new Set<string>()
  #rest: Buffer = Buffer.alloc(0)
  /** Files seen, without denied ones. */
  visited = 0
  /** Paths whose last names match, in a deeper directory. */
  below = 0

  constructor({
    base,
    matches,
    onlyDirectories,
    isDenied,
  }: {
    /** The directory that was searched, from the root; `''` for the root. */
    readonly base: string
    readonly matches: PathMatcher
    readonly onlyDirectories: boolean
    /** Takes a path from the root. Nothing that it covers is kept or counted. */
    readonly isDenied: (fromRoot: string) => boolean
  }) {
    this.#base = base === '' ? '' : `${base}/`
    this.#matches = matches
    this.#onlyDirectories = onlyDirectories
    this.#isDenied = isDenied
  }

  push(bytes: Uint8Array): void {
    let rest = Buffer.concat([this.#rest, bytes])
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      this.#take(rest.subarray(0, end).toString('utf8'))
      rest = rest.subarray(end + 1)
    }
    this.#rest = Buffer.from(rest)
  }

  /** The paths from the root, by their code units. */
  sorted(): readonly string[] {
    return [...this.#kept].toSorted((a, b) => (a < b ? -1 : 1))
  }

  #take(printed: string): void {
    const fromRoot = printed.replace(/^\.\/+/u, '')
    if (!fromRoot.startsWith(this.#base) || this.#isDenied(fromRoot)) return
    this.visited += 1
    const path = fromRoot.slice(this.#base.length)
    if (!this.#onlyDirectories) this.#test(path)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end)
      // The directories above a known one are known too.
      if (this.#directories.has(directory)) return
      if (this.#directories.size < maxKept) this.#directories.add(directory)
      this.#test(directory)
    }
  }

  #test(path: string): void {
    if (this.#matches(path)) {
      if (this.#kept.size < maxKept) this.#kept.add(this.#base + path)
    } else if (this.#kept.size === 0 && path.includes('/')) {
      if (this.#matchesBelow(path)) this.below += 1
    }
  }

  /** Whether the pattern would match in the directory of the path. */
  #matchesBelow(path: string): boolean {
    for (let start = path.indexOf('/'); start !== -1; start = path.indexOf('/', start + 1)) {
      if (this.#matches(path.slice(start + 1))) return true
    }
    return false
  }
}
