import type { IsolationReport } from './backend.ts'

/** Told already to the default sink; a process needs it once, however many sandboxes it makes. */
let emitted = false

/**
 * What to call before each command: says once, when it is true, that only the static check of the command line stands
 * between a command and the network, and how to change that.
 */
export function policyOnlyWarning(
  report: IsolationReport,
  sink: ((message: string) => void) | undefined,
): () => void {
  if (report.enforced.network !== 'policy-only') return () => {}
  const { why, fix } = report.notEnforced.find(({ what }) => what === 'network') ?? {
    why: '',
    fix: '',
  }
  const message =
    `Commands are kept off the network by a check of their command line only; a program that connects by itself is ` +
    `not stopped. ${why} ${fix}`.trim()
  let told = false
  return () => {
    if (told) return
    told = true
    if (sink !== undefined) {
      sink(message)
    } else if (!emitted) {
      emitted = true
      process.emitWarning(message, { type: 'SandboxWarning', code: 'SMITHERS_POLICY_ONLY' })
    }
  }
}
