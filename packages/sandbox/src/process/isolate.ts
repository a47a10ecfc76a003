import type { WrappedCommand } from '../isolation/backend.ts'
import type { ResolvedLimits } from '../options/limits.ts'
import type { RunOptions } from './run-types.ts'
import type { Violation } from '../path-rules/violation.ts'
import type { SandboxError } from '../errors/sandbox-error.ts'
import type { RunSettings } from './run-settings.ts'
import { createControlGroup, usesControlGroup } from './resource-limits/control-group.ts'
import { withResourceLimits } from './resource-limits/resource-limits.ts'
import { runCommand } from './supervise.ts'
import { type CommandOutcome } from './run-settings.ts'
import { type RunHooks } from './run-settings.ts'
import { refusalOf } from './run-errors.ts'

/** Size of the private temporary directory, where the backend gives one. */
const temporaryMb = 1024

/** What {@link isolatedRun} needs: everything is decided and checked already. */
export interface IsolatedRunRequest {
  readonly settings: RunSettings
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly marker: string
  readonly limits: ResolvedLimits
  readonly options: RunOptions
  readonly cwd: string
  readonly heldCwd: string
  readonly protect: readonly string[]
  readonly deny: readonly string[]
  readonly hooks: RunHooks
}

/** What came of it. */
export interface IsolatedRun {
  readonly outcome: CommandOutcome
  /** Why isolation did not start the command. */
  readonly failure: string | null
  readonly violations: readonly Violation[]
}

/** Wraps a command, from the inside out: kernel limits, isolation, control group; and runs it. */
export async function isolatedRun({
  settings,
  argv,
  env,
  marker,
  limits,
  options,
  cwd,
  heldCwd,
  protect,
  deny,
  hooks,
}: IsolatedRunRequest): Promise<IsolatedRun | SandboxError> {
  const group = usesControlGroup(limits) ? createControlGroup(limits) : undefined
  let isolated: WrappedCommand | undefined
  try {
    try {
      isolated = settings.backend.wrap({
        argv: withResourceLimits(argv, {
          fileMb: limits.fileMb,
          cpuSeconds: limits.cpuSeconds,
          processes: group === undefined && countsOwnProcesses(settings) ? limits.processes : null,
        }),
        command: argv[0],
        cwd,
        rootDir: settings.rootDir,
        policy: {
          network: settings.network,
          access: options.access ?? 'write',
          read: settings.read,
          protect,
          deny,
          limits: { temporaryMb },
        },
        env,
        reportsStart: true,
      })
    } catch (error) {
      return refusalOf(error)
    }
    const wrapped =
      group === undefined ? isolated : { ...isolated, ...group.wrap(isolated.file, isolated.args) }
    const outcome = await runCommand({
      command: wrapped,
      cwd: wrapped.cwd === cwd ? heldCwd : wrapped.cwd,
      timeoutMs: limits.timeoutMs,
      maxOutputBytes: limits.maxOutputBytes,
      signal: options.signal,
      stdin: options.stdin,
      onOutput: options.onOutput,
      marker,
      namespaceKill: settings.enforced.kill === 'enforced',
      mergeOutput: options.mergeOutput ?? false,
      memoryMb: group === undefined ? limits.memoryMb : null,
      hooks,
    })
    const failure =
      outcome.exitCode === 1
        ? (isolated.startFailure?.(outcome.stderr || outcome.stdout) ?? null)
        : null
    const outOfMemory = outcome.terminated === 'memory' || (group?.ranOutOfMemory() ?? false)
    return {
      outcome,
      failure,
      violations: outOfMemory ? [memoryViolation(limits.memoryMb)] : [],
    }
  } finally {
    isolated?.close?.()
    await group?.remove()
  }
}

/** The kernel counts processes per user: only a user namespace has none but the command's, and root is not limited. */
export function countsOwnProcesses({ enforced }: RunSettings): boolean {
  return enforced.backend === 'bubblewrap' && process.geteuid?.() !== 0
}

function memoryViolation(memoryMb: number | null): Violation {
  return {
    rule: 'memory',
    subject: 'memoryMb',
    message: `The command used more than its ${memoryMb} MiB of memory and was killed.`,
  }
}
