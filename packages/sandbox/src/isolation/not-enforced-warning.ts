import type { IsolationReport, NotEnforced, NotEnforcedCode } from './backend.ts'

/** The default sink gets each text once per process, however many sandboxes it creates. */
const emitted = new Set<string>()

/**
 * What to call before each command: says once, in one text, all that the operating system does not enforce although it
 * was not given up (as the network is by `network: 'host'`), and what would change that.
 */
export function notEnforcedWarning(
  report: IsolationReport,
  sink: ((message: string) => void) | undefined,
): () => void {
  const missing = missingFrom(report)
  if (missing.length === 0) return () => {}
  const reasons = missing.map(({ what, why }) => `${names[what]}: ${why}`)
  const fixes = new Set(missing.map(({ fix }) => fix))
  const message = `Commands are not fully confined here. ${reasons.join(' ')} ${[...fixes].join(' ')}`
  let hasWarned = false
  return () => {
    if (hasWarned) return
    hasWarned = true
    if (sink !== undefined) {
      sink(message)
    } else if (!emitted.has(message)) {
      emitted.add(message)
      process.emitWarning(message, { type: 'SandboxWarning', code: 'SMITHERS_NOT_ENFORCED' })
    }
  }
}

const names = {
  files: 'Files',
  network: 'Network',
  kill: 'Kill',
  syscalls: 'System calls',
} as const satisfies Record<NotEnforced['what'], string>

/** What makes files `'partial'`. The report lists more that is worth knowing, which is so by design of a backend. */
const exceptions: ReadonlySet<NotEnforcedCode | undefined> = new Set([
  'DENIED_NAMES_READABLE',
  'METADATA_CHANGEABLE',
] as const)

function missingFrom({ enforced, notEnforced }: IsolationReport): readonly NotEnforced[] {
  return notEnforced.filter(({ what, code }) => {
    switch (enforced[what]) {
      case 'enforced':
      case 'host':
        return false
      case 'partial':
        return exceptions.has(code)
      default:
        return true
    }
  })
}
