import { lstatSync, mkdirSync, readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { notAFile, pathEscape, pathInvalid, systemCode } from '../file-error.ts'
import { fileLimits } from '../file-limits.ts'
import type { DirectoryTree, DirectoryHandle, EntryHandle } from './directory-handle.ts'
import { parsePath } from './path-text.ts'
import type { PathSyntax } from './path-text.ts'

/** Where a path leads: a name in an open directory. Close it after use. */
export interface ResolvedPath {
  /** Every link resolved, components joined by `/`; `''` for the root. */
  readonly relativePath: string
  /** The path before each link was resolved. Rules apply to these as well. */
  readonly spellings: readonly string[]
  /** The directory that contains the name; the root itself for the root. */
  readonly directory: DirectoryHandle
  /** Undefined for the root. */
  readonly name: string | undefined
  /** Undefined when the name does not exist. */
  readonly stat: BigIntStats | undefined
  /** The directory itself, when the path ended in a separator, `.` or `..`. */
  readonly self: DirectoryHandle | undefined
  /** The object itself, with `lastEntry: 'open'`. */
  readonly entry: EntryHandle | undefined
  close(): void
  /** Closes, and leaves the object to {@link EntryHandle.closeLater}. */
  closeLater(): void
}

export interface WalkOptions {
  /** `'follow'` resolves a link at the end, as for reading; `'keep'` acts on the link itself, as for removing. */
  readonly lastLink: 'follow' | 'keep'
  /** `'open'` opens a handle on the object; `'stat'` only describes it. */
  readonly lastEntry: 'open' | 'stat'
  /*   * Creates missing directories. Called first with every path that would be created, the last one included; when it
   * throws, no directory has been created.
   */
  readonly createParents?: (relativePath: string) => void
  /** With `'file'`, a path that can only name a directory creates nothing. @default 'directory' */
  readonly creates?: 'file' | 'directory'
  /** Throws {@link WouldCreate} instead of creating a directory, after `createParents` has allowed it. */
  readonly isDryRun?: boolean
}

/** A dry run has reached the first missing directory, and every path it would create is allowed. */
export class WouldCreate extends Error {}

/**
 * Walks a path from the root, one component at a time, each in an open directory. It expands links itself, and `..`
 * returns to the directory it came from, so the kernel never resolves more than one plain name.
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
  /** Remaining components, the next one last. */
  readonly #pending: string[] = []
  /** The directories entered so far, the root first; one more than `#names`. */
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

  /** Nothing below a missing directory can be a link, so every path to create is known. */
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

  /** Creates the missing directory and lets the walk enter it, or what another process created there first. */
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
      // Not a link: a file, or a directory that appeared meanwhile.
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
        `contains more than ${fileLimits.maxLinksInPath} symbolic links, probably in a circle.`,
      )
    }
    const rest = this.#pending.toReversed()
    this.#spellings.push(posix.join(...this.#names, name, ...rest).replace(/\/$/u, ''))
    // Messages name the requested path and do not reveal where the link points.
    const { from, names } = parsePath(target, this.#syntax, this.#path)
    if (from === 'root') {
      this.release()
      this.#names.length = 0
    }
    this.#push(names)
  }

  #last(name: string): ResolvedPath | undefined {
    const directory = this.#top
    const { lastEntry, creates } = this.#options
    const entry =
      lastEntry === 'open' ? this.#tree.openEntry(directory, name, creates === 'file') : undefined
    const stat =
      lastEntry === 'open'
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

  /** The path ended in `.`, `..` or a separator, so it names the current directory. */
  #resolvedDirectory(): ResolvedPath {
    const name = this.#names.at(-1)
    // Described from inside: its name in the parent may refer to another object by now.
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
      closeLater: () => {
        entry?.closeLater()
        this.release()
      },
    }
  }

  #countChange(): void {
    this.#changes += 1
    if (this.#changes > fileLimits.maxChangesInPath) {
      throw pathInvalid(
        this.#path,
        'keeps changing while it is resolved. Try again when it is stable.',
      )
    }
  }
}
