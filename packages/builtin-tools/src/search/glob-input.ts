/** Input of the tool `glob`. */
export interface GlobInput {
  /** A glob relative to `path`; with a slash at its end, directories only. */
  readonly pattern: string
  /** Directory to look in, from the root. @default '.' */
  readonly path?: string | undefined
  /** Most paths in the result, 1 to 10 000. @default 200 */
  readonly limit?: number | undefined
  /** List hidden files and directories too. @default false, unless the pattern names one */
  readonly hidden?: boolean | undefined
}
