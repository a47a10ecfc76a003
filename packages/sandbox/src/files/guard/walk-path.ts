import { lstatSync, mkdirSync, readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { notAFile, pathEscape, pathInvalid, systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import type { DirectoryTree, DirectoryHandle, EntryHandle } from './directory-handle.ts'
import { parsePath } from './path-text.ts'
import type { PathSyntax } from './path-text.ts'

/** Where a path leads: a name in a held directory. Close it. */
export interface ResolvedPath {
  /** Every link resolved, components joined by `/`; `''` for the root. */
  readonly relativePath: string
  /** The path with the links on it still to be resolved: once for each link that was. Rules hold for these as well. */
  readonly spellings: readonly string[]
  /** The directory that the name is in; for the root, the root itself. */
  readonly directory: DirectoryHandle
  /** Undefined for the root, which has no name that could be changed. */
  readonly name: string | undefined
  /** What stands there, undefined when nothing does. */
  readonly stat: BigIntStats | undefined
  /** The directory itself, when the path ended in a separator, `.` or `..` and so was entered. */
  readonly self: DirectoryHandle | undefined
  /** The object itself, when the walk was asked to hold it. */
  readonly entry: EntryHandle | undefined
  close(): void
}

export interface WalkOptions {
  /** Whether a link at the end is followed, as for reading, or is itself the object, as for removing. */
  readonly lastLink: 'follow' | 'keep'
  /** `'entry'` holds the object for opening, `'stat'` only looks at it. */
  readonly lastEntry: 'open' | 'stat'
  /**
   * Creates missing directories on the way, after asking about each place that would come to exist, the last one
   * included: what is refused leaves no directories behind.
   */
  readonly createParents?: (relativePath: string) => void
  /** What the path is to become. A path that can only name a directory then creates none. @default 'directory' */
  readonly creates?: 'file' | 'directory'
  /** Throws {@link WouldCreate} where a directory would be created, after asking about it as if it were. */
  readonly isDryRun?: boolean
}

/** A dry run has come to the first directory that is missing, and all that would be created was let through. */
export class WouldCreate extends Error {}

/**
 * Walks from the root to what a path names, one component at a time, each in a directory that is held. Links are read
 * and expanded here, `..` returns to the directory we came from, so the kernel never resolves more than one plain name.
 *
 * @throws `TOOL_PATH_ESCAPE` when the path or a link on it leads out of the root.
 */
export function walkPath(
  tree: DirectoryTree,
  syntax: PathSyntax,
  path: string,
  options: WalkOptions,
): ResolvedPath {
  const walk = new Walk(tree, syntax, path, options)
  try {
    return walk.run()
  } catch (error) {
    walk.release()
    throw error
  }
}

class Walk {
  readonly #tree: DirectoryTree
  readonly #syntax: PathSyntax
  readonly #path: string
  readonly #options: WalkOptions
  /** Components still to go, the next one last. */
  readonly #pending: string[] = []
  /** The directories we are in, the root first; one more than `#names`. */
  readonly #stack: DirectoryHandle[]
  readonly #names: string[] = []
  readonly #spellings: string[] = []
  #links = 0
  #changes = 0

  constructor(tree: DirectoryTree, syntax: PathSyntax, path: string, options: WalkOptions) {
    this.#tree = tree
    this.#syntax = syntax
    this.#path = path
    this.#options = options
    this.#stack = [tree.root]
  }

  run(): ResolvedPath {
    this.#push(parsePath(this.#path, this.#syntax).names)
    for (;;) {
      const name = this.#pending.pop()
      if (name === undefined) return this.#resolvedDirectory()
      if (name === '' || name === '.') continue
      if (name === '..') this.#leave()
      else if (this.#pending.length > 0) this.#enter(name)
      else {
        const resolved = this.#last(name)
        if (resolved !== undefined) return resolved
      }
    }
  }

  release(): void {
    while (this.#stack.length > 1) this.#stack.pop()?.close()
  }

  get #top(): DirectoryHandle {
    return this.#stack.at(-1) ?? this.#tree.root
  }

  #push(names: readonly string[]): void {
    for (let index = names.length - 1; index >= 0; index -= 1)
      this.#pending.push(names[index] ?? '')
  }

  #leave(): void {
    if (this.#names.pop() === undefined) throw pathEscape(this.#path)
    this.#stack.pop()?.close()
  }

  #enter(name: string): void {
    try {
      this.#stack.push(this.#tree.openDirectory(this.#top, name))
      this.#names.push(name)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ENOENT' && this.#mayCreate(name)) this.#create(name)
      else if (code === 'ENOTDIR' || code === 'ELOOP') this.#expandLink(name, error)
      else throw error
    }
  }

  /** What is to come below a missing directory is known already: no link can stand there. */
  #mayCreate(name: string): boolean {
    const { createParents, creates } = this.#options
    if (createParents === undefined || this.#pending.includes('..')) return false
    // "name/" and "name/.": the name itself would become a directory.
    if (creates === 'file' && this.#pending.every((below) => below === '' || below === '.')) {
      throw notAFile(this.#path, 'directory')
    }
    for (const spelling of this.#spellings) createParents(spelling)
    let path = [...this.#names, name].join('/')
    createParents(path)
    for (const below of this.#pending.toReversed()) {
      if (below === '' || below === '.') continue
      path = `${path}/${below}`
      createParents(path)
    }
    return true
  }

  /** Creates the missing directory and lets the walk enter it, or whatever somebody put there first. */
  #create(name: string): void {
    if (this.#options.isDryRun === true) throw new WouldCreate()
    this.#countChange()
    try {
      this.#top.recheck()
      mkdirSync(this.#top.at(name))
      this.#top.recheck()
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
    this.#pending.push(name)
  }

  /** Replaces a component that is not a directory by what it links to. */
  #expandLink(name: string, notDirectory?: unknown): void {
    let target: string
    try {
      target = readlinkSync(this.#top.at(name))
    } catch (error) {
      const code = systemCode(error)
      if (code !== 'EINVAL' && code !== 'ENOENT' && code !== 'UNKNOWN') throw error
      // No link: a file, or a directory that has come to stand here meanwhile.
      this.#countChange()
      const stat = lstatSync(this.#top.at(name), { throwIfNoEntry: false })
      if (
        stat !== undefined &&
        !stat.isDirectory() &&
        !stat.isSymbolicLink() &&
        notDirectory !== undefined
      ) {
        throw notDirectory
      }
      this.#pending.push(name)
      return
    }
    this.#links += 1
    if (this.#links > fileLimits.maxLinksInPath) {
      throw pathInvalid(
        this.#path,
        `goes through more than ${fileLimits.maxLinksInPath} symbolic links, probably in a circle.`,
      )
    }
    const rest = this.#pending.toReversed()
    this.#spellings.push(posix.join(...this.#names, name, ...rest).replace(/\/$/u, ''))
    // The message names the path that was asked for: where the link points is not the caller's business.
    const { from, names } = parsePath(target, this.#syntax, this.#path)
    if (from === 'root') {
      this.release()
      this.#names.length = 0
    }
    this.#push(names)
  }

  #last(name: string): ResolvedPath | undefined {
    const directory = this.#top
    const entry =
      this.#options.lastEntry === 'open' ? this.#tree.openEntry(directory, name) : undefined
    const stat =
      this.#options.lastEntry === 'open'
        ? entry?.stat
        : lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false })
    if (stat?.isSymbolicLink() === true && this.#options.lastLink === 'follow') {
      entry?.close()
      this.#expandLink(name)
      return undefined
    }
    this.#names.push(name)
    return this.#resolved(directory, name, stat, entry, undefined)
  }

  /** The path ended in `.`, `..` or a separator: it names the directory we are in. */
  #resolvedDirectory(): ResolvedPath {
    const name = this.#names.at(-1)
    // Looked at from inside: its name in the parent may mean something else by now.
    const entry =
      this.#options.lastEntry === 'open' ? this.#tree.openEntry(this.#top, '.') : undefined
    const stat = entry?.stat ?? lstatSync(this.#top.at('.'), { bigint: true })
    const directory = name === undefined ? this.#top : (this.#stack.at(-2) ?? this.#tree.root)
    return this.#resolved(directory, name, stat, entry, this.#top)
  }

  #resolved(
    directory: DirectoryHandle,
    name: string | undefined,
    stat: BigIntStats | undefined,
    entry: EntryHandle | undefined,
    self: DirectoryHandle | undefined,
  ): ResolvedPath {
    return {
      relativePath: this.#names.join('/'),
      spellings: this.#spellings,
      directory,
      name,
      stat,
      self,
      entry,
      close: () => {
        entry?.close()
        this.release()
      },
    }
  }

  #countChange(): void {
    this.#changes += 1
    if (this.#changes > fileLimits.maxChangesInPath) {
      throw pathInvalid(
        this.#path,
        'keeps changing while it is looked at. Try again when it has settled.',
      )
    }
  }
}
