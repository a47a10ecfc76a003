import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { OpenRoot } from '../files/open-root.ts'
import { bareRepositoryNames } from '../files/trusted-near.ts'

/** Repositories below the root, which itself is left out. */
export interface Repositories {
  /** Directories with an entry `.git`. */
  readonly withGit: readonly string[]
  /** Directories that git takes for a bare repository. */
  readonly bare: readonly string[]
}

interface Listing {
  readonly identity: string
  readonly directories: readonly string[]
  readonly hasGit: boolean
  readonly isBare: boolean
}

/** Work in one turn of the event loop. */
const maxTurnMs = 8

/** A change so soon after another may leave the time of change as it was. */
const clockTickMs = 50

/**
 * Finds nested repositories at any depth. A directory is listed again only after it changed, so a search costs one system
 * call a directory. Links are not followed.
 *
 * Does not see below directories that this user may not list; git started there could not either.
 */
export class RepositoryFinder {
  #listings: ReadonlyMap<string, Listing> = new Map()

  async find({ handle }: OpenRoot): Promise<Repositories> {
    const listings = new Map<string, Listing>()
    const withGit: string[] = []
    const bare: string[] = []
    const pending = ['']
    let turnEndsAt = performance.now() + maxTurnMs
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
      if (performance.now() > turnEndsAt) {
        await setImmediate()
        turnEndsAt = performance.now() + maxTurnMs
      }
      const listing = this.#list(handle, directory)
      if (listing === undefined) continue
      listings.set(directory, listing)
      if (directory !== '' && listing.hasGit) withGit.push(directory)
      if (directory !== '' && listing.isBare) bare.push(directory)
      for (const name of listing.directories) {
        pending.push(directory === '' ? name : `${directory}/${name}`)
      }
    }
    this.#listings = listings
    return { withGit, bare }
  }

  #list(handle: string, directory: string): Listing | undefined {
    const path = `${handle}/${directory}`
    try {
      const { ino, dev, ctimeMs } = lstatSync(path)
      const isSettled = Date.now() - ctimeMs > clockTickMs
      const identity = isSettled ? `${dev} ${ino} ${ctimeMs}` : ''
      const known = this.#listings.get(directory)
      if (identity !== '' && known?.identity === identity) return known
      return toListing(identity, readdirSync(path, { withFileTypes: true }))
    } catch {
      // Removed meanwhile, or closed to this user.
      return undefined
    }
  }
}

function toListing(identity: string, entries: readonly Dirent[]): Listing {
  const names = new Set(entries.map(({ name }) => name))
  return {
    identity,
    // What lies in `.git` is no directory of the workspace.
    directories: entries
      .filter((entry) => entry.isDirectory() && entry.name !== '.git')
      .map(({ name }) => name),
    hasGit: names.has('.git'),
    isBare: bareRepositoryNames.every((name) => names.has(name)),
  }
}
