import type { CommandProxy } from '../egress/command-proxy.ts'
import { proxyEnvironment, proxyPort, sshEnvironment } from '../egress/environment.ts'
import type { RunningCommand } from '../isolation/running-command.ts'
import { defaultProcesses, type ResolvedLimits } from '../options/limits.ts'
import type { Violation } from '../path-rules/violation.ts'
import { createControlGroup, usesControlGroup } from './resource-limits/control-group.ts'
import { watchedUse } from './resource-limits/default-bounds.ts'
import { type CommandNetwork, decisionPublisher, networkOf } from './network-use.ts'
import { noProxy, refusalOf, NotStarted, refuseAborted } from './run-errors.ts'
import type { RunSettings } from './run-settings.ts'
import type { RefusalFacts } from './refusal-hint.ts'
import type { RunOptions } from './run-types.ts'
import { type CommandOutcome, type RunHooks, supervise } from './supervise.ts'

/** Size of the private temporary directory, where the backend gives one. */
const temporaryMb = 1024

/** What {@link isolate} needs: everything is decided and checked already. */
export interface IsolateRequest {
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly limits: ResolvedLimits
  readonly options: RunOptions
  readonly cwd: string
  readonly cwdHandle: string
  readonly rootDescriptor?: number | undefined
  readonly proxy?: CommandProxy | undefined
  readonly protect: readonly string[]
  readonly deny: readonly string[]
  readonly hooks: RunHooks
  /** Aborted when the sandbox is closed. @default a command of our own, which ends by its time limit */
  readonly closing?: AbortSignal
  /** Whether the command gets the home of the sandbox's commands. @default true */
  readonly keepsHome?: boolean
}

/** What came of it. */
export interface IsolatedCommand {
  readonly outcome: CommandOutcome
  /** Why isolation did not start the command. */
  readonly failure: string | null
  readonly violations: readonly Violation[]
  readonly network?: CommandNetwork
  /** What a hint about refused calls needs besides its output. */
  readonly refusals: Pick<RefusalFacts, 'limitations' | 'met' | 'rootDir'>
}

/**
 * Second step of a command: starts it under the sandbox's backend and in a control group of its own, and supervises it.
 *
 * @throws NotStarted when the backend cannot enforce the policy
 */
export async function isolate(
  settings: RunSettings,
  request: IsolateRequest,
): Promise<IsolatedCommand> {
  const { limits, options, hooks, closing } = request
  const group = usesControlGroup(limits) ? createControlGroup(limits) : undefined
  let running: RunningCommand | undefined
  let proxy: CommandProxy | undefined
  try {
    const { backend } = settings
    proxy = await openProxy(settings, request)
    // From the last answer to the start in one turn: another command may take what was prepared.
    for (let wait = backend.prepare(); wait !== undefined; wait = backend.prepare()) await wait
    refuseAborted(request.argv[0], options.signal, closing)
    const root = settings.files.openDirectory('.')
    try {
      running = start(settings, { ...request, rootDescriptor: root.fd, proxy }, group?.directories)
    } catch (error) {
      root.close()
      throw error
    }
    // Some backends open the root by this descriptor in another process.
    void running.started.then(() => root.close())
    const watch = watchedUse(limits, limitsByKernel(settings, limits))
    const outcome = await supervise(running, {
      timeoutMs: limits.timeoutMs,
      maxOutputBytes: limits.maxOutputBytes,
      signal: options.signal,
      closing,
      stdin: options.stdin,
      onOutput: options.onOutput,
      watch,
      hooks,
    })
    await proxy?.close()
    const printed = outcome.stderr || outcome.stdout
    const mayHaveFailed = outcome.end.kind === 'exited' && outcome.end.code === 1
    const exceeded = group?.ranOutOfMemory() === true ? 'memoryMb' : outcome.terminated
    return {
      outcome,
      failure: mayHaveFailed ? (running.startFailure?.(printed) ?? null) : null,
      violations: [
        ...(running.violations?.() ?? []),
        ...useViolations(exceeded, {
          memoryMb: limits.memoryMb ?? watch.memoryMb?.limit,
          processes: watch.processes?.limit,
        }),
      ],
      ...(proxy === undefined ? {} : { network: networkOf(proxy) }),
      refusals: refusalFacts(settings, running),
    }
  } finally {
    running?.close?.()
    await proxy?.close()
    await group?.remove()
  }
}

function refusalFacts(
  { limitations, rootDir }: RunSettings,
  running: RunningCommand,
): IsolatedCommand['refusals'] {
  return { limitations, met: running.limitationsMet?.() ?? [], rootDir }
}

async function openProxy(
  { egress, rootDir }: RunSettings,
  { argv, options }: IsolateRequest,
): Promise<CommandProxy | undefined> {
  const [command] = argv
  try {
    return await egress?.open({
      onDecision: options.onDecision,
      onRecord: decisionPublisher({ rootDir, command }),
    })
  } catch (error) {
    throw new NotStarted('spawn-error', noProxy(command, error))
  }
}

function start(
  settings: RunSettings,
  {
    argv,
    env,
    limits,
    options,
    cwd,
    cwdHandle,
    rootDescriptor,
    protect,
    deny,
    proxy,
    keepsHome = true,
  }: IsolateRequest,
  controlGroups: readonly string[] | undefined,
): RunningCommand {
  try {
    return settings.backend.start({
      argv,
      cwd,
      cwdHandle,
      rootDir: settings.rootDir,
      rootDescriptor,
      policy: {
        network: settings.network,
        proxy: proxy && { socketPath: proxy.socketPath, port: proxyPort },
        access: options.access ?? 'write',
        read: settings.read,
        write: settings.write,
        shown: settings.shown,
        home: keepsHome ? settings.home : undefined,
        protect,
        deny,
        limits: { temporaryMb },
      },
      // What the caller sets for this command wins.
      env: proxy
        ? {
            ...sshEnvironment,
            ...env,
            ...proxyEnvironment(proxy.credentials),
            ...options.env,
          }
        : env,
      limits: {
        fileMb: limits.fileMb,
        cpuSeconds: limits.cpuSeconds,
        processes: controlGroups === undefined ? processLimit(settings, limits) : null,
      },
      controlGroups: controlGroups ?? [],
      hasInput: options.stdin !== undefined,
      mergeOutput: options.mergeOutput ?? false,
    })
  } catch (error) {
    const problem = refusalOf(error)
    throw new NotStarted(problem.code === 'TOOL_SPAWN_FAILED' ? 'spawn-error' : 'refused', problem)
  }
}

/**
 * The kernel counts processes per user: only a user namespace has none but the command's, and root is not limited. Under
 * `namespaces` commands of one sandbox that run at the same time share one, and are counted together.
 */
function countsOwnProcesses({ enforced: { backend } }: RunSettings): boolean {
  return (backend === 'bubblewrap' || backend === 'namespaces') && process.geteuid?.() !== 0
}

/**
 * The limit that the kernel sets for a command. Without one that was asked for, the helper sets a generous one where it
 * counts only this command's processes; bubblewrap would need another program before each command, which takes longer
 * than starting the command does.
 */
function processLimit(settings: RunSettings, limits: ResolvedLimits): number | null {
  if (!countsOwnProcesses(settings)) return null
  if (limits.processes !== null) return limits.processes
  return settings.enforced.backend === 'namespaces' ? defaultProcesses : null
}

/** Which limits of a command the kernel keeps; the others are watched. */
export function limitsByKernel(
  settings: RunSettings,
  limits: ResolvedLimits,
): { readonly memoryMb: boolean; readonly processes: boolean } {
  const hasGroup = usesControlGroup(limits)
  return {
    memoryMb: hasGroup && limits.memoryMb !== null,
    processes: hasGroup ? limits.processes !== null : processLimit(settings, limits) !== null,
  }
}

function useViolations(
  exceeded: string | undefined,
  {
    memoryMb,
    processes,
  }: { readonly memoryMb?: number | undefined; readonly processes?: number | undefined },
): Violation[] {
  if (exceeded === 'memoryMb') {
    const message = `The command used more than its ${memoryMb} MiB of memory and was killed.`
    return [{ rule: 'memory', subject: exceeded, message }]
  }
  if (exceeded !== 'processes') return []
  const message = `The command had more than its ${processes} processes and threads and was killed.`
  return [{ rule: 'processes', subject: exceeded, message }]
}
