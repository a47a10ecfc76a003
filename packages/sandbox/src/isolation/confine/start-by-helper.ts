import { constants } from 'node:os'
import type { Violation } from '../../path-rules/violation.ts'
import type { Limitation } from '../limitation.ts'
import type { CommandEnd, OutputStream, RunningCommand, StartRequest } from '../running-command.ts'
import { limitationsMet } from './absent-calls.ts'
import { type RunFrame, step } from './frames.ts'
import type { CommandEvent, HelperProcess } from './helper-process.ts'
import type { MountStep } from './mount-step.ts'
import type { TakenPipe } from './pipe-slots.ts'
import { descendantsOf } from './process-tree.ts'
import { refusedCall } from './refused-call.ts'
import { notStarted, type StartFailure } from './start-failure.ts'

/** The parts of a run frame that are the backend's choice. */
export type HelperCommand = Pick<
  RunFrame,
  'policy' | 'cwd' | 'cwdIdentity' | 'mounts' | 'argv' | 'env' | 'proxy'
>

/** What a backend adds to a start. */
export interface HelperStartOptions {
  /** Awaited before the command counts as ended. */
  readonly onEnd?: () => Promise<void>
  /** The mounts of the template, to name the one that did not work. */
  readonly template?: readonly MountStep[]
}

/** Starts one command by the helper. */
export function startByHelper(
  helper: HelperProcess,
  command: HelperCommand,
  request: StartRequest,
  { onEnd = async () => {}, template = [] }: HelperStartOptions = {},
): RunningCommand {
  const taken: TakenPipe[] = []
  const take = (end: 'read' | 'write'): TakenPipe => {
    const pipe = helper.pipes.take(end)
    taken.push(pipe)
    return pipe
  }
  const { rootDir, policy } = request
  const life = new CommandLife({
    onEnd,
    endOf: (failure) => notStarted(failure, request.argv[0], { mounts: command.mounts, template }),
    violationOf: (call, what) =>
      refusedCall(call, what, { rootDir, access: policy.access ?? 'write' }),
  })
  try {
    const stdin = request.hasInput ? take('write') : null
    const stdout = take('read')
    const stderr = request.mergeOutput ? null : take('read')
    const kill = helper.run(
      {
        ...command,
        slots: [stdin?.pipe.slot ?? -1, stdout.pipe.slot, stderr?.pipe.slot ?? -1],
        limits: limitsOf(request),
        groupFiles: request.controlGroups.map((directory) => `${directory}/cgroup.procs`),
      },
      (event) => life.on(event),
    )
    const outputs: (readonly [OutputStream, TakenPipe['stream']])[] = [['stdout', stdout.stream]]
    if (stderr !== null) outputs.push(['stderr', stderr.stream])
    return {
      started: life.started,
      stdin: stdin?.stream ?? null,
      outputs,
      ended: life.ended,
      processes: () => life.processes(),
      violations: () => life.violations,
      limitationsMet: () => life.limitationsMet,
      kill() {
        if (life.hasEnded) return false
        kill()
        return true
      },
    }
  } catch (error) {
    for (const pipe of taken) helper.pipes.giveBack(pipe)
    life.on({ kind: 'failed', id: 0, step: step.request, errno: constants.errno.E2BIG, mount: 0 })
    if (error instanceof RangeError) return neverStarted(life)
    void life.ended
    throw error
  }
}

function neverStarted(life: CommandLife): RunningCommand {
  return {
    started: life.started,
    stdin: null,
    outputs: [],
    ended: life.ended,
    processes: () => [],
    kill: () => false,
  }
}

interface LifeOptions {
  readonly onEnd: () => Promise<void>
  readonly endOf: (failure: StartFailure) => CommandEnd
  readonly violationOf: (call: number, what: string) => Violation
}

/** One command, by its events. */
class CommandLife {
  readonly started: Promise<number | undefined>
  readonly ended: Promise<CommandEnd>
  readonly violations: Violation[] = []
  limitationsMet: readonly Limitation['code'][] = []
  hasEnded = false
  #supervisor: number | undefined
  #refusals = 0
  readonly #onStarted: (pid: number | undefined) => void
  readonly #onEnded: (end: CommandEnd) => void
  readonly #endOf: LifeOptions['endOf']
  readonly #violationOf: LifeOptions['violationOf']

  constructor({ onEnd, endOf: endOfFailure, violationOf }: LifeOptions) {
    this.#endOf = endOfFailure
    this.#violationOf = violationOf
    const started = Promise.withResolvers<number | undefined>()
    const ended = Promise.withResolvers<CommandEnd>()
    this.started = started.promise
    this.#onStarted = started.resolve
    this.ended = ended.promise.then(async (end) => {
      await onEnd()
      return end
    })
    this.#onEnded = ended.resolve
  }

  on(event: CommandEvent): void {
    switch (event.kind) {
      case 'started':
        this.#supervisor = event.supervisor
        return this.#onStarted(event.pid)
      case 'violation':
        this.#refusals += 1
        this.violations.push(this.#violationOf(event.call, event.what))
        return
      case 'failed':
        return this.#end(this.#endOf(event))
      case 'lost':
        return this.#end({ kind: 'lost', why: 'The process that confines commands died.' })
      case 'exited':
        if (event.refused > this.#refusals) {
          this.violations.push(moreRefusals(event.refused - this.#refusals))
        }
        this.limitationsMet = limitationsMet(event.absent)
        return this.#end(endOf(event.status, event.leftBehind > 0))
    }
  }

  /** Its living processes: every one has the supervisor above it, since orphans become its children. */
  processes(): readonly number[] {
    return this.#supervisor === undefined || this.hasEnded ? [] : descendantsOf(this.#supervisor)
  }

  #end(end: CommandEnd): void {
    this.hasEnded = true
    this.#onStarted(undefined)
    this.#onEnded(end)
  }
}

function moreRefusals(count: number): Violation {
  return {
    rule: 'files',
    subject: String(count),
    message: `${count} more calls of the command were refused; the first 50 are listed.`,
  }
}

function endOf(status: number, leftBehind: boolean): CommandEnd {
  if (status === -1) return { kind: 'lost', why: 'The supervisor of the command died.' }
  const signal = status & 0x7f
  return {
    kind: 'exited',
    code: signal === 0 ? (status >> 8) & 0xff : null,
    signal: signal === 0 ? null : (signalNames.get(signal) ?? 'SIGKILL'),
    allEnded: true,
    leftBehind,
  }
}

const signalNames = new Map(
  (Object.entries(constants.signals) as [NodeJS.Signals, number][]).map(([name, number]) => [
    number,
    name,
  ]),
)

// RLIMIT_* of Linux.
const [cpu, fileSize, core, processes] = [0, 1, 4, 6] as const

function limitsOf({ limits }: StartRequest): (readonly [number, bigint, bigint])[] {
  const all: (readonly [number, bigint, bigint])[] = [[core, 0n, 0n]]
  if (limits.fileMb !== null) {
    const bytes = BigInt(limits.fileMb) * 1024n * 1024n
    all.push([fileSize, bytes, bytes])
  }
  // A signal that can be caught at the limit, one that cannot a second later.
  if (limits.cpuSeconds !== null) {
    all.push([cpu, BigInt(limits.cpuSeconds), BigInt(limits.cpuSeconds) + 1n])
  }
  if (limits.processes !== null) {
    all.push([processes, BigInt(limits.processes), BigInt(limits.processes)])
  }
  return all
}
