/** A change that a command should not have made, found afterwards, or a limit that it met. */
export interface Violation {
  readonly rule: 'protected-name' | 'memory'
  /** Relative to the root, or the name of the limit. */
  readonly subject: string
  readonly message: string
  /** Where the command's version is kept, outside the root; absent when it was left in place. */
  readonly setAside?: string
}
