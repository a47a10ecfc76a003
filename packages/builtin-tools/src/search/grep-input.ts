/** Input of {@link grep}. */
export interface GrepInput {
  /** Regular expression in ripgrep's syntax. */
  readonly pattern: string
  /** Directory or file to search, from the root. @default '.' */
  readonly path?: string | undefined
  /** Search only files that match, such as `*.ts`; `!` excludes. */
  readonly glob?: string | undefined
  /** @default false */
  readonly ignoreCase?: boolean | undefined
  /** Treat `pattern` as plain text. @default false */
  readonly literal?: boolean | undefined
  /** Lines shown before and after each match, 0 to 100; without effect in the modes that show no lines. @default 0 */
  readonly context?: number | undefined
  /** Search hidden files and directories too. @default false */
  readonly hidden?: boolean | undefined
  /** `'files'`: only the paths of files with a match; `'count'`: with the number of matching lines. @default 'lines' */
  readonly mode?: 'lines' | 'files' | 'count' | undefined
  /** Most matching lines, or files in the other modes; the first by path. @default all that fit */
  readonly limit?: number | undefined
  /** Let a match span lines, and `.` match line breaks. @default false */
  readonly multiline?: boolean | undefined
}
