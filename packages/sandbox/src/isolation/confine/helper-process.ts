import type { ChildProcess } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { confineSources } from './built-programs.ts'
import { FrameReader, type Hello, type HelperFrame } from './frame-reader.ts'
import {
  encodeForget,
  encodeKill,
  encodeRun,
  protocolVersion,
  type RunFrame,
  step,
} from './frames.ts'
import { PipeSlots } from './pipe-slots.ts'
import { findProgram, startProgram } from './program.ts'

/** What becomes of one command; `lost` when its helper or supervisor died. */
export type CommandEvent =
  | Extract<HelperFrame, { kind: 'started' | 'failed' | 'exited' | 'violation' }>
  | { readonly kind: 'lost' }

interface RunningOne {
  readonly policy: number
  readonly onEvent: (event: CommandEvent) => void
}

type StartFailure = Extract<HelperFrame, { kind: 'failed' }>

/** A helper, or why there is none. */
export type HelperStart = HelperProcess | { readonly why: string; readonly fix: string }

/**
 * More than this many at once, and the one not used for longest is forgotten. Each takes up to nine descriptors of the
 * helper, two as a rule, and some users may have 256.
 */
const maxPolicies = 24

/**
 * The process that starts commands. One serves all sandboxes of this process, does not keep its event loop alive, and
 * ends with it, however it ends.
 */
export class HelperProcess {
  readonly hello: Hello
  readonly pid: number
  readonly pipes: PipeSlots
  readonly #socket: Socket
  readonly #commands = new Map<number, RunningOne>()
  // In the order of use.
  readonly #policies = new Map<string, number>()
  /** Policies that could not be made: commands that name one fail with the same reason. */
  readonly #failedPolicies = new Map<number, Pick<StartFailure, 'errno' | 'mount'>>()
  #lastId = 0
  #isAlive = true
  #uses = 0

  constructor(child: ChildProcess, socket: Socket, pid: number, hello: Hello) {
    this.hello = hello
    this.pid = pid
    this.#socket = socket
    this.pipes = new PipeSlots(pid, (frame) => this.#send(frame))
    child.once('exit', () => this.lose())
    socket.on('close', () => this.lose())
    socket.unref()
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  /** Settles when more pipes have come, or none will. Other commands may take them first. */
  async morePipes(): Promise<void> {
    this.#use(1)
    await this.pipes.more()
    this.#use(-1)
  }

  /**
   * The number of a policy, made now if it is new: `encode` returns its frame. Frames arrive in order, so a command may
   * follow at once.
   */
  policy(key: string, encode: (id: number) => Buffer): number {
    const id = this.#policies.get(key) ?? this.#makePolicy(encode)
    this.#policies.delete(key)
    this.#policies.set(key, id)
    for (const [oldest, unused] of this.#policies) {
      if (this.#policies.size <= maxPolicies) break
      this.#policies.delete(oldest)
      this.#send(encodeForget(unused))
    }
    return id
  }

  /**
   * Starts a command and returns how to kill it.
   *
   * @throws RangeError when the command line is too long
   */
  run(request: RunFrame, onEvent: (event: CommandEvent) => void): () => void {
    const id = (this.#lastId += 1)
    const frame = encodeRun(id, request)
    this.#commands.set(id, { policy: request.policy, onEvent })
    this.#use(1)
    this.#send(frame)
    if (!this.#isAlive) this.#end(id, { kind: 'lost' })
    return () => this.#send(encodeKill(id))
  }

  /** What came from the helper. */
  receive(frame: HelperFrame): void {
    switch (frame.kind) {
      case 'pipes-made':
        return this.pipes.add(frame.pipes)
      case 'started':
      case 'violation':
        return this.#commands.get(frame.id)?.onEvent(frame)
      case 'policy-made':
        return this.#policyMade(frame)
      case 'failed':
        return this.#end(frame.id, this.#explained(frame))
      case 'exited':
        return this.#end(frame.id, frame)
      default:
    }
  }

  /** Its end, or bytes that no helper sends: no command can be believed in any more. */
  lose(): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    this.#socket.destroy()
    this.pipes.release()
    for (const id of this.#commands.keys()) this.#end(id, { kind: 'lost' })
  }

  #makePolicy(encode: (id: number) => Buffer): number {
    const id = (this.#lastId += 1)
    this.#send(encode(id))
    return id
  }

  #policyMade({ id, errno, skipped }: Extract<HelperFrame, { kind: 'policy-made' }>): void {
    if (errno === 0) return
    if (this.#failedPolicies.size >= maxPolicies) this.#failedPolicies.clear()
    this.#failedPolicies.set(id, { errno, mount: skipped })
    for (const [key, policy] of this.#policies) if (policy === id) this.#policies.delete(key)
  }

  /** A command without its policy failed for the reason that the policy did. */
  #explained(failure: StartFailure): StartFailure {
    const policy = this.#commands.get(failure.id)?.policy
    const reason = policy === undefined ? undefined : this.#failedPolicies.get(policy)
    if (reason === undefined || failure.step !== step.request) return failure
    return { ...failure, ...reason, step: step.policy }
  }

  #end(id: number, event: CommandEvent): void {
    const command = this.#commands.get(id)
    if (command === undefined) return
    this.#commands.delete(id)
    this.#use(-1)
    command.onEvent(event)
  }

  /** The event loop waits for the helper only while an answer is awaited. */
  #use(more: 1 | -1): void {
    this.#uses += more
    if (this.#uses === 0) this.#socket.unref()
    else this.#socket.ref()
  }

  #send(frame: Buffer): void {
    if (this.#isAlive) this.#socket.write(frame)
  }
}

/** A helper that has not said hello by then never will; it takes some 4 ms. */
const helloTimeoutMs = 10_000

/** Starts a helper and waits for its first frame. */
export async function startHelper(): Promise<HelperStart> {
  if (!showsOwnProcesses()) {
    const why =
      '/proc is missing or belongs to another process namespace, so the pipes of commands cannot be opened.'
    return { why, fix: 'Mount the /proc of this process namespace (`mount -t proc proc /proc`).' }
  }
  const program = findProgram()
  if ('why' in program) return program
  const child = startProgram(program.contents)
  const socket = child?.stdio[3] as Socket | undefined
  if (child?.pid === undefined || socket === undefined) {
    const why =
      'The confinement program cannot be started: every directory for temporary files forbids execution.'
    return { why, fix: 'Set TMPDIR to a directory that is not mounted "noexec".' }
  }
  child.unref()
  const found = await helloOf(child, child.pid, socket)
  if (found !== null) return found
  child.kill('SIGKILL')
  const why = 'The confinement program was started and did not answer.'
  return { why, fix: 'Look for a system-call filter or security module that stops it.' }
}

/** In a /proc of another process namespace our number, and the helper's, name other processes. */
function showsOwnProcesses(): boolean {
  try {
    return process.platform !== 'linux' || readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}

function helloOf(child: ChildProcess, pid: number, socket: Socket): Promise<HelperProcess | null> {
  return new Promise((resolve) => {
    const reader = new FrameReader()
    let helper: HelperProcess | undefined
    const fail = (): void => {
      clearTimeout(timer)
      helper?.lose()
      resolve(null)
    }
    const timer = setTimeout(fail, helloTimeoutMs)
    const receive = (frame: HelperFrame): void => {
      if (helper !== undefined) return helper.receive(frame)
      if (frame.kind !== 'hello' || !isOurs(frame.hello)) return fail()
      clearTimeout(timer)
      helper = new HelperProcess(child, socket, pid, frame.hello)
      resolve(helper)
    }
    socket.on('data', (bytes: Buffer) => {
      try {
        for (const frame of reader.read(bytes)) receive(frame)
      } catch {
        fail()
      }
    })
    socket.on('error', fail)
    child.once('exit', fail)
  })
}

function isOurs({ protocol, sources }: Hello): boolean {
  return protocol === protocolVersion && sources === confineSources
}
