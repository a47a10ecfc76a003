import { existsSync, mkdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  discardTemporaryDirectory,
  makeTemporaryDirectory,
  removeInTurns,
} from '../process-directory.ts'

/** Home and temporary directory of one command. */
export interface PrivateDirectory {
  readonly home: string
  readonly temporary: string
  /** Removes both with everything in them, once the command has ended. */
  remove(): Promise<void>
}

/**
 * Directories for the homes and temporary files of commands, one tree for each root: outside every root, since what
 * commands of one root leave must not be seen by those of another. Landlock cannot limit their size.
 */
export class PrivateDirectories {
  readonly path: string
  #last = 0
  #used = 0
  #isReleased = false

  private constructor(path: string) {
    this.path = path
  }

  /**
   * The tree for a root, made when it is first needed.
   *
   * @throws what making a directory throws
   */
  static of(rootDir: string): PrivateDirectories {
    let found = trees.get(rootDir)
    // A cleaner of temporary files may have removed it.
    if (found === undefined || !existsSync(found.path)) {
      found = new PrivateDirectories(makeTemporaryDirectory('private', rootDir))
      trees.set(rootDir, found)
    }
    return found
  }

  /** Removes the tree of a root, once no command uses it; the next command of the root gets another. */
  static async release(rootDir: string): Promise<void> {
    const found = trees.get(rootDir)
    if (found === undefined) return
    trees.delete(rootDir)
    found.#isReleased = true
    await found.#discardUnused()
  }

  async #discardUnused(): Promise<void> {
    if (this.#isReleased && this.#used === 0) await discardTemporaryDirectory(this.path)
  }

  /** Makes the directories of one command. */
  make(): PrivateDirectory {
    const name = String((this.#last += 1))
    const own = join(this.path, name)
    const [home, temporary] = [join(own, 'home'), join(own, 'tmp')]
    for (const directory of [own, home, temporary]) mkdirSync(directory, 0o700)
    this.#used += 1
    return {
      home,
      temporary,
      remove: async () => {
        await remove(own)
        this.#used -= 1
        await this.#discardUnused()
      },
    }
  }
}

async function remove(own: string): Promise<void> {
  try {
    // Most commands leave nothing behind.
    for (const directory of [join(own, 'home'), join(own, 'tmp'), own]) rmdirSync(directory)
  } catch {
    // What cannot be removed stays, in a directory that no other user can open.
    await removeInTurns(own)
  }
}

const trees = new Map<string, PrivateDirectories>()
