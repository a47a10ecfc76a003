/** Something that a command did and should not have, found afterwards. */
export interface Violation {
  readonly rule: 'protected-name' | 'memory'
  /** From the root, or the limit. */
  readonly subject: string
  readonly message: string
}
