/** Which files: the same rules for the file methods and for commands. */
export interface FilePolicy {
  /** Absolute paths outside the root that commands may read, besides the system's. @default [] */
  readonly read?: readonly string[] | undefined
  /** Globs, matched on the path from the root, that nothing may read or change. @default [] */
  readonly deny?: readonly string[] | undefined
  /** Names that a command may not change because something unconfined trusts them later. @default 'default' */
  readonly protect?: 'default' | 'none' | readonly string[] | undefined
  /** Writes to a file with more hard links than this are refused. @default 1 */
  readonly maxLinks?: number | undefined
  /** When a write by the file methods counts as done: on the disk, or with the operating system. @default 'fsync' */
  readonly durability?: 'fsync' | 'relaxed' | undefined
}
