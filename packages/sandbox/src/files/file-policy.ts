/** Rules for files, the same for file methods and for commands. */
export interface FilePolicy {
  /** Absolute paths outside the root that commands may read, besides system files. @default [] */
  readonly read?: readonly string[] | undefined
  /** Globs, relative to the root, of paths that no method or command may read or change. @default [] */
  readonly deny?: readonly string[] | undefined
  /**
   * Names that a command may not change because unconfined programs trust them later. The entry `'default'` of a list
   * adds the default names.
   *
   * @default 'default'
   */
  readonly protect?: 'default' | 'none' | readonly string[] | undefined
  /** Writes to a file with more hard links than this are refused. @default 1 */
  readonly maxLinks?: number | undefined
  /** Whether a write waits for the disk (`'fsync'`) or only for the operating system. @default 'fsync' */
  readonly durability?: 'fsync' | 'relaxed' | undefined
}
