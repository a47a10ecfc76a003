import type { OpenDirectory } from '../files/operations/stat-and-list.ts'
import { type ResolvedLimits, resolveLimits } from '../options/limits.ts'
import { readOptions } from '../options/read-options.ts'
import { openRootAt, type OpenRoot } from '../files/open-root.ts'
import { findDeniedPaths } from '../path-rules/find-denied-paths.ts'
import { unprotectedRun } from '../path-rules/protection.ts'
import type { CommandCheck, CommandRefusal } from '../command-policy/command-policy.ts'
import { checkArguments, runOptions } from './run-options.ts'
import type { CommandCall } from './command-call.ts'
import { findCommand } from './find-command.ts'
import { isolate, limitsByKernel, type IsolatedCommand } from './isolate.ts'
import {
  NotStarted,
  refuseAborted,
  cwdError,
  rootChanged,
  sandboxClosed,
  missingCommand,
  preparedTooLong,
  refusalOf,
  refusedByPolicy,
} from './run-errors.ts'
import { publishViolations, nothingRun, resultOf, type RuleEffects } from './run-result.ts'
import type { RunSettings } from './run-settings.ts'
import type { LimitEnforcement, RunEnforcement, RunOptions, RunResult } from './run-types.ts'
import type { RunHooks } from './supervise.ts'

/**
 * First step of a command: reads its options, asks the policy, prepares what isolation needs, and turns what happened
 * into a result.
 */
export async function runCommand(
  settings: RunSettings,
  command: string,
  args: readonly string[],
  given: RunOptions,
  hooks: RunHooks = {},
): Promise<RunResult> {
  checkArguments(command, args)
  const options = readOptions(given, runOptions)
  const limits = resolveLimits(options, settings.limits)
  return settings.commands.follow((closing) =>
    runCall(settings, { argv: [command, ...args], options, limits, hooks, closing }),
  )
}

async function runCall(settings: RunSettings, call: CommandCall): Promise<RunResult> {
  const [command] = call.argv
  const enforced: RunEnforcement = {
    ...settings.enforced,
    limits: limitEnforcement(call.limits, settings),
  }
  try {
    if (settings.commands.isClosed) throw new NotStarted('refused', sandboxClosed())
    const refusing = refuseByPolicy(settings, call)
    if (refusing !== undefined) await refusing
    refuseChangedRoot(settings)
    const opened = await openToEnter(settings, '.')
    try {
      const root = openRootAt(settings.rootDir, opened.fd)
      const { isolated, rules } = await runBelow(root, settings, call)
      const result = resultOf(call, enforced, isolated, rules)
      publishViolations(result.violations, { rootDir: settings.rootDir, command })
      return result
    } finally {
      opened.close()
    }
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error
    return { ...nothingRun, status: error.status, error: error.reason, enforced }
  }
}

function refuseByPolicy({ check }: RunSettings, call: CommandCall): Promise<void> | undefined {
  refuseAborted(call.argv[0], call.options.signal, call.closing)
  if (check === null) return undefined
  refuse(check(call.argv), call)
  return call.options.checkScript === true ? refuseByScript(check, call) : undefined
}

async function refuseByScript(check: CommandCheck, call: CommandCall): Promise<void> {
  // The shell parser is loaded only where it is used.
  const { checkScript } = await import('../command-policy/check-script.ts')
  refuse(checkScript(call.argv.at(-1) ?? '', check), call)
}

function refuse(refusal: CommandRefusal | null, { argv }: CommandCall): void {
  if (refusal !== null) throw new NotStarted('refused', refusedByPolicy(refusal, argv[0]))
}

/** The existing names to hide. The command's time also runs while the tree is searched. */
async function deniedNames(
  root: OpenRoot,
  { deny, enforced }: RunSettings,
  call: CommandCall,
): Promise<readonly string[]> {
  if (enforced.files !== 'enforced') return []
  const { timeoutMs } = call.limits
  const endsAt = performance.now() + timeoutMs
  try {
    return await findDeniedPaths(root, deny, () => {
      refuseAborted(call.argv[0], call.options.signal, call.closing)
      if (performance.now() < endsAt) return
      throw new NotStarted('timeout', preparedTooLong(call.argv[0], timeoutMs))
    })
  } catch (error) {
    if (error instanceof NotStarted) throw error
    throw new NotStarted('refused', refusalOf(error))
  }
}

function refuseChangedRoot({ files, rootDir }: RunSettings): void {
  if (!files.isCurrent()) throw new NotStarted('refused', rootChanged(rootDir))
}

async function runBelow(
  root: OpenRoot,
  settings: RunSettings,
  call: CommandCall,
): Promise<{ isolated: IsolatedCommand; rules: RuleEffects }> {
  const deny = await deniedNames(root, settings, call)
  // The search for denied names can take a while.
  refuseChangedRoot(settings)
  const directory = await openToEnter(settings, call.options.cwd ?? '.')
  try {
    return await runIn({ root, directory }, settings, call, deny)
  } finally {
    directory.close()
  }
}

/** Opens the root or the working directory. A command may have taken its permissions away. */
async function openToEnter({ files }: RunSettings, path: string): Promise<OpenDirectory> {
  try {
    return files.openDirectory(path)
  } catch (error) {
    const stat = await files.stat(path).catch(() => undefined)
    const problem = cwdError(error, path, stat?.kind)
    const isRule = problem.code === 'TOOL_PATH_ESCAPE' || problem.code === 'TOOL_PATH_DENIED'
    throw new NotStarted(isRule ? 'refused' : 'spawn-error', problem)
  }
}

async function runIn(
  { root, directory }: { readonly root: OpenRoot; readonly directory: OpenDirectory },
  settings: RunSettings,
  call: CommandCall,
  deny: readonly string[],
): Promise<{ isolated: IsolatedCommand; rules: RuleEffects }> {
  const { argv, options, limits, hooks, closing } = call
  const [command, ...args] = argv
  const env: Record<string, string> = {
    ...settings.env,
    ...options.env,
    PWD: directory.absolutePath,
  }
  const cwdHandle = handleOf(directory)
  const lookup = findCommand(command, cwdHandle, env['PATH'])
  if (lookup !== 'found') {
    throw new NotStarted('spawn-error', missingCommand(command, args, lookup))
  }
  settings.warn()
  // A root that cannot be written needs no protection.
  const isReadOnly =
    options.access === 'read' && settings.enforced.files !== 'none' && process.platform === 'linux'
  const protectedRun = isReadOnly ? unprotectedRun : await settings.protection.begin(root)
  const { mount } = protectedRun
  const running = isolate(settings, {
    argv,
    env,
    limits,
    options,
    cwd: directory.absolutePath,
    cwdHandle,
    protect: mount,
    deny,
    hooks,
    closing,
  })
  // Whatever ended the command, its changes are undone before anyone hears of it.
  const [isolated] = await Promise.allSettled([running])
  const changes = await protectedRun.end()
  if (isolated.status === 'rejected') throw isolated.reason
  return { isolated: isolated.value, rules: { changes, mounted: mount, denied: deny } }
}

/**
 * A path of the directory that was checked, whatever its name means by now. It names our process id, not `self`: the child
 * may have another descriptor at that number.
 */
function handleOf({ fd, absolutePath }: OpenDirectory): string {
  return process.platform === 'linux' && fd !== undefined
    ? `/proc/${process.pid}/fd/${fd}`
    : absolutePath
}

function limitEnforcement(limits: ResolvedLimits, settings: RunSettings): LimitEnforcement {
  const byKernel = limitsByKernel(settings, limits)
  // Only /proc says what a tree of processes uses.
  const isWatched = process.platform === 'linux'
  const state = (name: 'memoryMb' | 'processes'): LimitEnforcement =>
    byKernel[name]
      ? { [name]: 'enforced' }
      : isWatched
        ? { [name]: 'watched' }
        : limits[name] === null
          ? {}
          : { [name]: 'none' }
  return { ...state('memoryMb'), ...state('processes') }
}
