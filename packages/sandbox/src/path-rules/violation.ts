/** A change that a command should not have made, found afterwards, or a limit that it met. */
export interface Violation {
  /** `'files'`, `'network'` and `'processes'`: a call that was refused while the command ran. */
  readonly rule: 'protected-name' | 'memory' | 'files' | 'network' | 'processes'
  /** From the root, or absolute outside it; the limit; or the call. */
  readonly subject: string
  readonly message: string
  /** Where the command's version is kept, outside the root; absent when it was left in place. */
  readonly setAside?: string
}
