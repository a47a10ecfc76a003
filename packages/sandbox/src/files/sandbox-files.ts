import type { WriteDurability } from './io/atomic-write.ts'
import type { DirectoryEntry } from './operations/directory-entries.ts'
import type { OpenOptions, SandboxFile } from './operations/open-and-read.ts'
import type { WriteContent } from './operations/write.ts'
import type { GuardKind } from './guard/directory-handle.ts'
import type { LineRange } from './io/line-range.ts'
import type { FileStat, OpenDirectory } from './operations/stat-and-list.ts'

/** Options of `createSandboxFiles`. */
export interface SandboxFilesOptions {
  /** The directory to confine to. Links in it are resolved once, now. */
  readonly rootDir: string
  /**
   * Globs of paths that no operation touches or shows, matched on the path relative to the root after links are
   * resolved; a denied directory denies what is in it. @default []
   */
  readonly deny?: readonly string[] | undefined
  /**
   * Names that can be read but not changed, since programs outside trust them: git hooks, shell start-up files, CI
   * definitions. Relative to the root. @default 'default'
   */
  readonly protect?: 'default' | 'none' | readonly string[] | undefined
  /** A file with more hard links is not changed, since one may be outside; reading is not limited. @default 1 */
  readonly maxLinks?: number | undefined
  /** When a write counts as done. @default 'fsync' */
  readonly durability?: WriteDurability | undefined
  /** `'beneath'` refuses to work where the guard can be raced. @default 'auto' */
  readonly guard?: 'auto' | GuardKind | undefined
}

/**
 * Files confined to one directory. Paths are relative to it, or absolute and spelled under it.
 *
 * Every method rejects with a `SandboxError`: `TOOL_PATH_ESCAPE` (leads out), `TOOL_PATH_INVALID` (no usable path),
 * `TOOL_PATH_DENIED` (a rule forbids it), `TOOL_FILE_NOT_FOUND`, `TOOL_NOT_A_FILE` (pipe, device, directory),
 * `TOOL_FILE_FAILED` (the system refused; `details.errno` says why), `INVALID_INPUT`.
 */
export interface SandboxFiles {
  /** The root, canonical and absolute. */
  readonly rootDir: string
  /** `'beneath'`: cannot be raced (Linux). `'checked'`: checked before and after, which a concurrent attacker can race. */
  readonly guard: GuardKind
  /** The bytes of a file. More than `maxBytes` (64 MiB by default) is `TOOL_FILE_TOO_LARGE`. */
  read(path: string, options?: { readonly maxBytes?: number }): Promise<Buffer>
  /** The text of a UTF-8 file, without a byte order mark; anything else is `TOOL_FILE_NOT_TEXT`. */
  readText(path: string, options?: { readonly maxBytes?: number }): Promise<string>
  /**
   * The text of some lines of a UTF-8 file of any size, counted from 1, with their line endings. Reads no further than
   * needed. `totalLines` is known when the end of the file was reached.
   */
  readLines(
    path: string,
    range: LineRange & {
      readonly maxBytes?: number | undefined
      readonly abortSignal?: AbortSignal | undefined
    },
  ): Promise<{ readonly text: string; readonly totalLines: number | undefined }>
  /**
   * Writes a whole file in one step, creating directories above it: whenever the process dies, the old file or the new
   * one is there. Keeps the mode of a file it replaces. `create` refuses when something is there.
   */
  write(
    path: string,
    content: WriteContent,
    options?: { readonly durability?: WriteDurability; readonly create?: boolean },
  ): Promise<void>
  /**
   * Reads, changes and replaces a file as one step. Updates of one file in this process wait for each other; a change by
   * somebody else meanwhile is `TOOL_FILE_CHANGED`. `change` returns the new contents, or undefined to change nothing.
   */
  update(
    path: string,
    change: (bytes: Buffer) => string | Uint8Array | undefined,
    options?: { readonly maxBytes?: number; readonly durability?: WriteDurability },
  ): Promise<void>
  /** The same for UTF-8 text. A byte order mark is kept, and kept out of what `change` sees. */
  updateText(
    path: string,
    change: (text: string) => string | undefined,
    options?: { readonly maxBytes?: number; readonly durability?: WriteDurability },
  ): Promise<void>
  /** Opens a regular file for use with `node:fs`. */
  open(path: string, options?: OpenOptions): Promise<SandboxFile>
  /** Creates a directory and those above it. */
  mkdir(path: string): Promise<void>
  /** Renames a file, link or directory; a file of the new name is replaced. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file, a link (not its target) or a directory; false when nothing was there. */
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<boolean>
  /** Sets permission bits. */
  chmod(path: string, mode: number): Promise<void>
  /** The entries of a directory, by name. */
  list(path?: string): Promise<DirectoryEntry[]>
  /** Every entry below a directory, parents first. Links are listed, not followed. */
  walk(path?: string): AsyncGenerator<DirectoryEntry, void, void>
  /** What stands at a path. `followLink: false` describes a link itself. */
  stat(path: string, options?: { readonly followLink?: boolean }): Promise<FileStat>
  /** Whether something stands at a path, links followed. */
  exists(path: string): Promise<boolean>
  /**
   * Whether a `deny` rule hides a path relative to the root, in which no link is left to resolve. Looks at the text
   * alone, so it can be asked about each line of a long output.
   */
  isDenied(relativePath: string): boolean
  /** Holds a directory, to start a process in. */
  openDirectory(path?: string): OpenDirectory
  /** False once `rootDir` names another directory than the one that is held, or none. */
  isCurrent(): boolean
  /**
   * Releases the root, when what is under way has ended. What is in several steps (removing a tree, walking one, writing
   * a stream) stops before the next one with `INVALID_INPUT`.
   */
  close(): void
}
