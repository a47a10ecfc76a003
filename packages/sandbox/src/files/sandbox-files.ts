import type { WriteDurability } from './io/atomic-write.ts'
import type { DirectoryEntry } from './operations/directory-entries.ts'
import type { OpenOptions, SandboxFile } from './operations/open-and-read.ts'
import type { WriteContent } from './operations/write.ts'
import type { GuardKind } from './guard/directory-handle.ts'
import type { LineRange } from './io/line-range.ts'
import type { FileStat, OpenDirectory } from './operations/stat-and-list.ts'

/** Options of `createSandboxFiles`. */
export interface SandboxFilesOptions {
  /** The directory to confine to. Its links are resolved once, when the files are opened. */
  readonly rootDir: string
  /*   * Globs of paths that no operation touches or shows, matched against the path relative to the root after links are
   * resolved. A denied directory denies everything in it. @default []
   */
  readonly deny?: readonly string[] | undefined
  /*   * Names, relative to the root, that can be read but not changed because programs outside trust them: git hooks, shell
   * start-up files, CI definitions. @default 'default'
   */
  readonly protect?: 'default' | 'none' | readonly string[] | undefined
  /** Files with more hard links are not changed, since one link may be outside. Reading is not limited. @default 1 */
  readonly maxLinks?: number | undefined
  /** When a write counts as done. @default 'fsync' */
  readonly durability?: WriteDurability | undefined
  /** `'beneath'` throws where the guard can be raced. @default 'auto' */
  readonly guard?: 'auto' | GuardKind | undefined
}

/**
 * Files confined to one directory. Paths are relative to it, or absolute and spelled under it.
 * Methods reject with a `SandboxError`: `TOOL_PATH_ESCAPE` (outside the root), `TOOL_PATH_INVALID` (unusable path),
 * `TOOL_PATH_DENIED` (a rule forbids it), `TOOL_FILE_NOT_FOUND`, `TOOL_NOT_A_FILE` (pipe, device, directory),
 * `TOOL_FILE_FAILED` (the system refused; see `details.errno`), `TOOL_CLOSED` (after `close`), `INVALID_INPUT`.
 */
export interface SandboxFiles {
  /** The root, canonical and absolute. */
  readonly rootDir: string
  /** `'beneath'`: cannot be raced (Linux). `'checked'`: checked before and after, which another process can race. */
  readonly guard: GuardKind
  /** The bytes of a file. More than `maxBytes` (64 MiB by default) is `TOOL_FILE_TOO_LARGE`. */
  read(path: string, options?: { readonly maxBytes?: number }): Promise<Buffer>
  /** The text of a UTF-8 file, without a byte order mark; anything else is `TOOL_FILE_NOT_TEXT`. */
  readText(path: string, options?: { readonly maxBytes?: number }): Promise<string>
  /*   * Lines of a UTF-8 file of any size, counted from 1, with their line endings. Reads no further than needed, so
   * `totalLines` is undefined unless the end of the file was reached. `cut` returns the first lines that fit into `maxBytes`
   * in place of `TOOL_FILE_TOO_LARGE`, which remains for a single line.
   */
  readLines(
    path: string,
    range: LineRange & {
      readonly maxBytes?: number | undefined
      readonly cut?: boolean | undefined
      readonly abortSignal?: AbortSignal | undefined
    },
  ): Promise<{ readonly text: string; readonly totalLines: number | undefined }>
  /*   * Writes a whole file atomically and creates missing parent directories: if the process dies, the old file or the new
   * one is there. Keeps the mode of a replaced file. `create` refuses to replace anything.
   */
  write(
    path: string,
    content: WriteContent,
    options?: { readonly durability?: WriteDurability; readonly create?: boolean },
  ): Promise<void>
  /*   * Reads, changes and replaces a file as one step. Updates of one file wait for each other, on Linux also those of
   * other processes of this user; a change by another program
   * in between is `TOOL_FILE_CHANGED`. `change` returns the new contents, or undefined to change nothing.
   */
  update(
    path: string,
    change: (bytes: Buffer) => string | Uint8Array | undefined,
    options?: { readonly maxBytes?: number; readonly durability?: WriteDurability },
  ): Promise<void>
  /** The same for UTF-8 text. `change` does not see a byte order mark; it is kept. */
  updateText(
    path: string,
    change: (text: string) => string | undefined,
    options?: { readonly maxBytes?: number; readonly durability?: WriteDurability },
  ): Promise<void>
  /** Opens a regular file for use with `node:fs`. */
  open(path: string, options?: OpenOptions): Promise<SandboxFile>
  /** Creates a directory and its missing parents. */
  mkdir(path: string): Promise<void>
  /** Renames a file, link or directory. Replaces a file with the new name. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file, a link (not its target) or a directory. Returns false when nothing was there. */
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<boolean>
  /** Sets permission bits. */
  chmod(path: string, mode: number): Promise<void>
  /** The entries of a directory, by name. */
  list(path?: string): Promise<DirectoryEntry[]>
  /** Every entry below a directory, parents first. Links are listed, not followed. */
  walk(path?: string): AsyncGenerator<DirectoryEntry, void, void>
  /** Describes the object at a path. `followLink: false` describes a link itself. */
  stat(path: string, options?: { readonly followLink?: boolean }): Promise<FileStat>
  /** Whether a path exists. Follows links. */
  exists(path: string): Promise<boolean>
  /*   * Whether a `deny` rule hides a path that is relative to the root and contains no unresolved link. Examines the text
   * alone, so it is cheap enough for every line of a long output.
   */
  isDenied(relativePath: string): boolean
  /** Opens a directory, for example to start a process in it. */
  openDirectory(path?: string): OpenDirectory
  /** False once `rootDir` no longer names the directory that was opened. */
  isCurrent(): boolean
  /**
   * Releases the root once running operations have ended. Operations of several steps (removing or walking a tree,
   * writing a stream) stop before their next step; they and all later ones fail with `TOOL_CLOSED`. Closing again does
   * nothing. A root that was forgotten is released when its files are collected as garbage.
   */
  close(): void
  /** {@link SandboxFiles.close}, for `using`. */
  [Symbol.dispose](): void
}
