import { randomUUID } from 'node:crypto'
import type { OpenDirectory } from '../files/operations/stat-and-list.ts'
import { resolveLimits, type ResolvedLimits } from '../options/limits.ts'
import type { LimitEnforcement } from './run-types.ts'
import type { RunResult } from './run-types.ts'
import type { RunOptions } from './run-types.ts'
import { readOptions } from '../options/read-options.ts'
import { runOptions } from './run-options.ts'
import { SandboxError } from '../errors/sandbox-error.ts'
import { checkArguments } from './check-arguments.ts'
import { arePipesReady, makePipes } from './output/command-pipes.ts'
import { usesControlGroup } from './resource-limits/control-group.ts'
import { markerVariable } from './environment.ts'
import { findCommand } from './find-command.ts'
import { findDenied } from '../path-rules/find-denied-paths.ts'
import { countsOwnProcesses, isolatedRun } from './isolate.ts'
import { OutputBuffer } from './output/output-buffer.ts'
import { protectionHint } from '../path-rules/protection-hint.ts'
import type { CommandOutcome } from './run-settings.ts'
import type { RunHooks } from './run-settings.ts'
import {
  aborted,
  cwdError,
  missingCommand,
  neverStarted,
  preparedTooLong,
  refusalOf,
  refusedByPolicy,
  spawnFailed,
  timedOut,
} from './run-errors.ts'
import { changedNames, watchNames } from '../path-rules/protected-path-changes.ts'
import type { RunSettings } from './run-settings.ts'

/** One command from its arguments to its result: checks, confines, runs, and says what happened. */
export async function confinedRun(
  settings: RunSettings,
  command: string,
  args: readonly string[],
  given: RunOptions,
  hooks: RunHooks = {},
): Promise<RunResult> {
  checkArguments(command, args)
  const options = readOptions(given, runOptions)
  const limits = resolveLimits(options, settings.limits)
  const argv = [command, ...args] as const
  const enforced = { ...settings.enforced, limits: limitEnforcement(limits, settings) }
  const notStarted = (status: RunResult['status'], error: SandboxError): RunResult => ({
    ...nothing,
    status,
    error,
    enforced,
  })

  const isAborted = (): boolean => options.signal?.aborted === true
  if (isAborted()) return notStarted('aborted', aborted(command, options.signal, 'none'))
  const refusal = settings.check?.(argv) ?? null
  if (refusal !== null) return notStarted('refused', refusedByPolicy(refusal, command))
  let deny: readonly string[]
  try {
    deny = await deniedNames(settings, command, limits.timeoutMs, options.signal)
  } catch (error) {
    const problem = refusalOf(error)
    return notStarted(stoppedBefore[problem.code] ?? 'refused', problem)
  }
  // The last wait: nobody else may take the pipes that are there now.
  while (!arePipesReady()) await makePipes()
  if (isAborted()) return notStarted('aborted', aborted(command, options.signal, 'none'))
  const cwd = options.cwd ?? '.'
  let directory: OpenDirectory
  try {
    directory = settings.files.openDirectory(cwd)
  } catch (error) {
    const stat = await settings.files.stat(cwd).catch(() => undefined)
    const problem = cwdError(error, cwd, stat?.kind)
    const isRule = problem.code === 'TOOL_PATH_ESCAPE' || problem.code === 'TOOL_PATH_DENIED'
    return notStarted(isRule ? 'refused' : 'spawn-error', problem)
  }
  try {
    const marker = randomUUID()
    const env: Record<string, string> = {
      ...settings.env,
      ...options.env,
      PWD: directory.absolutePath,
      [markerVariable]: marker,
    }
    // The name of a held descriptor: the directory that was checked, whatever the path names by now. Through our process
    // number and not `self`, since the child may have another descriptor at that number.
    const heldCwd =
      process.platform === 'linux' && directory.fd !== undefined
        ? `/proc/${process.pid}/fd/${directory.fd}`
        : directory.absolutePath
    const lookup = findCommand(command, heldCwd, env['PATH'])
    if (lookup !== 'found') return notStarted('spawn-error', missingCommand(command, args, lookup))
    settings.warn()

    // What cannot be written need not be compared.
    const isReadOnly = options.access === 'read' && settings.backend.name === 'bubblewrap'
    const watch = watchNames(settings.rootDir, isReadOnly ? [] : settings.protect)
    const started = await isolatedRun({
      settings,
      argv,
      env,
      marker,
      limits,
      options,
      cwd: directory.absolutePath,
      heldCwd,
      protect: watch.names.mount,
      deny,
      hooks,
    })
    if (SandboxError.isInstance(started)) {
      return notStarted(started.code === 'TOOL_SPAWN_FAILED' ? 'spawn-error' : 'refused', started)
    }
    const { outcome, failure, violations } = started
    if (outcome.terminated === 'caller-failed') throw outcome.callerError
    const { terminated: _reason, spawnError: _cause, callerError: _thrown, ...captured } = outcome
    const [status, error] =
      failure === null
        ? verdict(outcome, { command, args, limits, signal: options.signal })
        : (['spawn-error', neverStarted(command, failure)] as const)
    const hint =
      enforced.files === 'enforced' && outcome.exitCode !== 0
        ? protectionHint(captured.output, watch.names.mount)
        : undefined
    return {
      ...captured,
      status,
      enforced,
      violations: [...changedNames(watch), ...violations],
      ...(hint === undefined ? {} : { hint }),
      ...(error === undefined ? {} : { error }),
    }
  } finally {
    directory.close()
  }
}

/** How a run ended whose time was over, or that was stopped, while it was prepared. */
const stoppedBefore: Readonly<Partial<Record<string, RunResult['status']>>> = {
  TOOL_TIMEOUT: 'timeout',
  TOOL_ABORTED: 'aborted',
}

/** What isolation has to hide. The time for the command is over while the tree is walked, too. */
async function deniedNames(
  { rootDir, deny, enforced }: RunSettings,
  command: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (enforced.files !== 'enforced') return []
  const endsAt = performance.now() + timeoutMs
  return findDenied(rootDir, deny, () => {
    if (signal?.aborted === true) throw aborted(command, signal, 'none')
    if (performance.now() > endsAt) throw preparedTooLong(command, timeoutMs)
  })
}

const nothing: Omit<RunResult, 'status' | 'enforced'> = Object.freeze({
  ...new OutputBuffer(1).capture(),
  exitCode: null,
  signal: null,
  durationMs: 0,
  violations: [],
})

function limitEnforcement(limits: ResolvedLimits, settings: RunSettings): LimitEnforcement {
  const groups = usesControlGroup(limits)
  return {
    ...(limits.memoryMb === null ? {} : { memoryMb: groups ? 'enforced' : 'watched' }),
    ...(limits.processes === null
      ? {}
      : { processes: groups || countsOwnProcesses(settings) ? 'enforced' : 'none' }),
  }
}

interface VerdictFacts {
  readonly command: string
  readonly args: readonly string[]
  readonly limits: ResolvedLimits
  readonly signal: AbortSignal | undefined
}

function verdict(
  { terminated, spawnError, signal }: CommandOutcome,
  { command, args, limits, signal: abortSignal }: VerdictFacts,
): [RunResult['status'], SandboxError?] {
  if (spawnError !== undefined) return ['spawn-error', spawnFailed(command, args, spawnError)]
  if (terminated === 'timeout') return ['timeout', timedOut(command, limits.timeoutMs)]
  if (terminated === 'aborted') return ['aborted', aborted(command, abortSignal, 'unknown')]
  return [signal === null ? 'exited' : 'killed']
}
