import type { Sandbox, SandboxOptions } from '@smithers/sandbox'
import { SmithersError, type TaskContext } from '@smithers/tool-core'
import { logNamesBelow } from './protected-files.ts'

/** What decides whether commands may run beside a log. */
export interface LogBeneathRoot {
  readonly rootDir: string
  readonly log: TaskContext['log'] | undefined
  readonly isolation: SandboxOptions['isolation'] | undefined
  readonly warn: ((message: string) => void) | undefined
}

/** The warnings that were given, by root and backend. */
const warned = new Set<string>()

/**
 * Refuses commands that could forge the log: its files lie beneath the root, and isolation does not hide them. A command
 * could approve its own calls in it, or delete the rows of what it did.
 *
 * *Guarantees*: where isolation fell back to a backend that cannot hide files, no command starts. *Does not protect* a
 * caller who names such isolation (`'none'`, or `{ require }` without `'files'`): commands run, after one warning.
 *
 * @throws SmithersError `TOOL_ISOLATION_UNAVAILABLE`, which ends the run
 */
export function refuseForgeableLog(
  { report }: Sandbox,
  { rootDir, log, isolation = 'auto', warn }: LogBeneathRoot,
): void {
  const [name] = logNamesBelow(rootDir, log)
  if (name === undefined || report.enforced.files === 'enforced') return
  const problem =
    `The log ${JSON.stringify(name)} lies beneath the root, and isolation "${report.backend}" cannot hide it from commands, ` +
    `which could approve their own calls in it.`
  const remedy =
    'Keep the log outside the root: `defaultLogPath()` of @smithers/log-sqlite names such a place.'
  if (isolation === 'auto') {
    throw new SmithersError(
      'TOOL_ISOLATION_UNAVAILABLE',
      `${problem} ${remedy} To accept the risk, name the isolation: isolation: 'none', or { require: [], backend: '${report.backend}' }.`,
      {
        details: { missing: ['files'], backend: report.backend, log: name },
        effect: 'none',
        fatal: true,
      },
    )
  }
  const key = `${report.backend}\n${rootDir}`
  if (warned.has(key)) return
  warned.add(key)
  const message = `${problem} ${remedy}`
  if (warn === undefined) process.emitWarning(message, { code: 'SMITHERS_LOG_BENEATH_ROOT' })
  else warn(message)
}
