import type { IsolationReport } from './backend.ts'

/** The default sink gets the warning once per process, however many sandboxes it creates. */
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
  let hasWarned = false
  return () => {
    if (hasWarned) return
    hasWarned = true
    if (sink !== undefined) {
      sink(message)
    } else if (!emitted) {
      emitted = true
      process.emitWarning(message, { type: 'SandboxWarning', code: 'SMITHERS_POLICY_ONLY' })
    }
  }
}
