/** A change that a command should not have made, found afterwards, or a limit that it met. */
export interface Violation {
  /** `'files'`, `'network'` and `'processes'`: a call that was refused while the command ran. `'network.allow'`: a host. */
  readonly rule: 'protected-name' | 'memory' | 'files' | 'network' | 'network.allow' | 'processes'
  /** From the root, or absolute outside it; the limit; the call; or the host and port. */
  readonly subject: string
  readonly message: string
  /** Where the command's version is kept, outside the root; absent when it was left in place. */
  readonly setAside?: string
}
