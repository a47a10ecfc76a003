import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { IsolationBackend } from '../backend.ts'
import { closeDescriptors } from './child-descriptors.ts'
import type { CommandEnd, RunningCommand, StartRequest } from '../running-command.ts'
import { arePipesReady, type CommandPipe, makePipes } from './command-pipes.ts'
import { enterControlGroups, withResourceLimits } from './resource-limits.ts'
import { findSurvivors, markerVariable } from './find-survivors.ts'
import { killGroup, killLeftovers, killTree } from './kill-tree.ts'
import {
  closePipes,
  exitOf,
  openPipes,
  outputsOf,
  spawnChild,
  spawnFailure,
} from './spawn-child.ts'
import type { Wrap, WrappedCommand } from './wrapped-command.ts'

/** A backend that spawns another program in place of the command. */
export interface SpawningBackend extends IsolationBackend {
  readonly wrap: Wrap
}

/** How processes of a backend end. */
export interface SpawnOptions {
  /** True when a process namespace ends with the process that is spawned, so that no process can outlive it. */
  readonly hasProcessNamespace: boolean
}

/**
 * Makes a backend's `start` from its `wrap`: spawns the wrapped command with pipes, kernel limits and control groups, and
 * ends everything that it started.
 */
export function startBySpawn(
  wrap: Wrap,
  options: SpawnOptions,
): Pick<IsolationBackend, 'prepare' | 'start'> {
  return {
    prepare: () => (arePipesReady() ? undefined : makePipes()),
    start: (request) => start(wrap, options, request),
  }
}

function start(wrap: Wrap, options: SpawnOptions, request: StartRequest): RunningCommand {
  const marker = randomUUID()
  const wrapped = wrap({
    argv: withResourceLimits(request.argv, request.limits),
    command: request.argv[0],
    cwd: request.cwd,
    rootDir: request.rootDir,
    rootDescriptor: request.rootDescriptor,
    policy: request.policy,
    env: { ...request.env, [markerVariable]: marker },
    reportsStart: true,
  })
  const pipes = openPipes(request.mergeOutput)
  let child: ChildProcess
  try {
    child = spawnChild(
      enterControlGroups(wrapped, request.controlGroups),
      {
        cwd: wrapped.cwd === request.cwd ? request.cwdHandle : wrapped.cwd,
        hasInput: request.hasInput,
      },
      pipes,
    )
  } catch (error) {
    return notStarted(wrapped, pipes, Promise.resolve(error as NodeJS.ErrnoException))
  } finally {
    closeDescriptors(wrapped.descriptors)
    closeDescriptors(pipes.map(({ childEnd }) => childEnd))
  }
  if (child.pid === undefined) return notStarted(wrapped, pipes, spawnFailure(child))
  return running(wrapped, child, { pid: child.pid, marker, pipes, ...options })
}

function notStarted(
  wrapped: WrappedCommand,
  pipes: readonly CommandPipe[],
  failure: Promise<NodeJS.ErrnoException>,
): RunningCommand {
  closePipes(pipes)
  return {
    started: Promise.resolve(undefined),
    stdin: null,
    outputs: [],
    ended: failure.then((error) => ({ kind: 'not-started', error })),
    processes: () => [],
    kill: () => false,
    ...(wrapped.close === undefined ? {} : { close: wrapped.close }),
  }
}

interface Spawned extends SpawnOptions {
  readonly pid: number
  readonly marker: string
  readonly pipes: readonly CommandPipe[]
}

function running(
  { startFailure, close }: WrappedCommand,
  child: ChildProcess,
  { pid, marker, pipes, hasProcessNamespace }: Spawned,
): RunningCommand {
  const tree = { pid, marker }
  const startedAt = performance.now()
  const exited = exitOf(child)
  let hasExited = false
  let killing: Promise<void> | undefined
  const ended = exited.then(async ({ code, signal }): Promise<CommandEnd> => {
    hasExited = true
    const leftBehind =
      hasProcessNamespace || killing !== undefined
        ? undefined
        : await killLeftovers(tree, performance.now() - startedAt)
    await killing
    return {
      kind: 'exited',
      code,
      signal,
      allEnded: hasProcessNamespace,
      ...(leftBehind === undefined ? {} : { leftBehind }),
    }
  })
  return {
    started: Promise.resolve(pid),
    stdin: child.stdin,
    outputs: outputsOf(child, pipes),
    ended,
    processes: () => [pid, ...findSurvivors(tree, { parentChain: true, onlyLater: false }).pids],
    kill() {
      // The process id of a command that has exited may belong to another process.
      if (hasExited) return false
      if (hasProcessNamespace) killGroup(pid)
      else killing ??= killTree(tree, { ageMs: performance.now() - startedAt, exited })
      return true
    },
    ...(startFailure === undefined ? {} : { startFailure }),
    ...(close === undefined ? {} : { close }),
  }
}
