import { readFileSync, statSync } from 'node:fs'

/**
 * Knows which protected paths are in the index of the root's repository, so that git writes them in honest work: they are
 * judged after a command. All others can be mounted read-only.
 *
 * A wrong yes costs nothing but the mount; the index is searched for the name, not parsed.
 */
export class TrackedPaths {
  readonly #index: string
  #stamp = ''
  #bytes: Buffer = Buffer.alloc(0)
  #known = new Map<string, boolean>()

  constructor(rootDir: string) {
    this.#index = `${rootDir}/.git/index`
  }

  /** The test for the index as it is now. */
  current(): (name: string) => boolean {
    this.#refresh()
    return (name) => {
      if (name.startsWith('.git/') || name === '.git') return false
      const known = this.#known.get(name) ?? this.#isInIndex(name)
      this.#known.set(name, known)
      return known
    }
  }

  #refresh(): void {
    const stats = statSync(this.#index, { throwIfNoEntry: false, bigint: true })
    const stamp = stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.ctimeNs}`
    if (stamp === this.#stamp) return
    this.#stamp = stamp
    this.#known = new Map()
    try {
      this.#bytes = stamp === '' ? Buffer.alloc(0) : readFileSync(this.#index)
    } catch {
      this.#bytes = Buffer.alloc(0)
    }
  }

  #isInIndex(name: string): boolean {
    // Version 4 shortens names by what they share with the one before.
    const isOther = this.#bytes.length >= 8 && this.#bytes.readUInt32BE(4) > 3
    return isOther || this.#bytes.includes(name)
  }
}
