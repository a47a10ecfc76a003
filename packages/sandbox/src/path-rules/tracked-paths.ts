import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { OpenRoot } from '../files/open-root.ts'

const empty = Buffer.alloc(0)

/** Of an index with more, nothing counts as tracked, so every protected path is mounted. */
const maxIndexBytes = 256n * 1024n * 1024n

/**
 * Knows which protected paths are in the index of the root's repository, so that git writes them in honest work: they are
 * judged after a command. All others can be mounted read-only.
 *
 * A wrong yes costs nothing but the mount; the index is searched for the name, not parsed.
 */
export class TrackedPaths {
  #stamp = ''
  #bytes: Buffer = empty
  #known = new Map<string, boolean>()

  /** The test for the index as it is now. */
  current({ handle }: OpenRoot): (name: string) => boolean {
    this.#refresh(`${handle}/.git/index`)
    return (name) => {
      if (name.startsWith('.git/') || name === '.git') return false
      const known = this.#known.get(name) ?? this.#isInIndex(name)
      this.#known.set(name, known)
      return known
    }
  }

  #refresh(index: string): void {
    const descriptor = openIndex(index)
    try {
      const stats = descriptor === undefined ? undefined : fstatSync(descriptor, { bigint: true })
      // A command can put anything under this name: a pipe, a device, gigabytes.
      const isUsable = stats?.isFile() === true && stats.size <= maxIndexBytes
      const stamp = isUsable ? `${stats.ino} ${stats.size} ${stats.ctimeNs}` : ''
      if (stamp === this.#stamp) return
      this.#stamp = stamp
      this.#known = new Map()
      this.#bytes = descriptor === undefined || !isUsable ? empty : readFileSync(descriptor)
    } finally {
      if (descriptor !== undefined) closeSync(descriptor)
    }
  }

  #isInIndex(name: string): boolean {
    // Version 4 shortens names by what they share with the one before.
    const isOther = this.#bytes.length >= 8 && this.#bytes.readUInt32BE(4) > 3
    return isOther || this.#bytes.includes(name)
  }
}

/** `undefined` where there is none, or none that this user may read: then nothing counts as tracked. */
function openIndex(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    return undefined
  }
}
