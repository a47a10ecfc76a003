// node:child_process and not execa: measured here, `execa('true')` with `buffer: false` took 1.2 to 1.35 times as long
// as `spawn('true')` and 60 ms to import, more than this whole runner may add (`pnpm bench processes` shows both).
import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { WrappedCommand } from '../isolation/backend.ts'
import { drainMs } from '../limits.ts'
import { toBytes } from '../files/text-encoding.ts'
import { closeDescriptors } from '../isolation/close-descriptors.ts'
import { type CommandPipe, openCommandPipe } from './command-pipes.ts'
import { descriptorSlots } from './inherited-descriptors.ts'
import { killGroup, killLeftovers, killTree } from './kill-tree.ts'
import { watchMemory } from './memory-watch.ts'
import { OutputBuffer, type CapturedOutput, type OutputStream } from './output-buffer.ts'

/** A piece of output, as it arrives. */
export interface OutputChunk {
  readonly stream: OutputStream
  readonly bytes: Uint8Array
}

/** What a command reads from standard input. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>

/** What {@link runCommand} needs: everything is decided and checked already. */
export interface RunCommandRequest {
  readonly command: WrappedCommand
  /** Where to start; may be a `/proc` name of a held descriptor. */
  readonly cwd: string
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly signal: AbortSignal | undefined
  readonly stdin: CommandInput | undefined
  readonly onOutput: ((chunk: OutputChunk) => void | Promise<void>) | undefined
  /** Value of the marker variable in the command's environment. */
  readonly marker: string
  /** True when the backend's process namespace dies with the process that is spawned. */
  readonly namespaceKill: boolean
  /** One pipe for both streams, where there are pipes: the exact order, and all of it as `stdout`. */
  readonly mergeOutput: boolean
  /** MiB of memory to watch for, where nothing better does; `null` for no limit. */
  readonly memoryMb: number | null
  readonly hooks: RunHooks
}

/** What a caller may be told while a command runs. */
export interface RunHooks {
  readonly onStart?: (pid: number) => void
  /** The command is gone; what it printed may still be in the pipes. */
  readonly onExit?: () => void
}

/** Why a command was ended before it ended by itself. */
export type TerminationReason = 'timeout' | 'aborted' | 'caller-failed' | 'memory'

/** What came of a command. */
export interface CommandOutcome extends CapturedOutput {
  readonly terminated: TerminationReason | undefined
  /** `null` when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly durationMs: number
  /** The process was never started. */
  readonly spawnError: NodeJS.ErrnoException | undefined
  /** What `onOutput` or the source of the input threw. */
  readonly callerError: unknown
}

/**
 * Runs one command to its end and never longer: it settles when the command exits, after at most {@link drainMs} for
 * the rest of its output, not when the last holder of the pipe closes it. Timeout, abort and failure take one path,
 * SIGKILL to the whole tree; what a command leaves behind when it exits is killed too.
 */
export async function runCommand(request: RunCommandRequest): Promise<CommandOutcome> {
  const startedAt = performance.now()
  const buffer = new OutputBuffer(request.maxOutputBytes)
  const finish = (rest: Partial<CommandOutcome>): CommandOutcome => ({
    ...buffer.capture(),
    terminated: undefined,
    exitCode: null,
    signal: null,
    spawnError: undefined,
    callerError: undefined,
    ...rest,
    durationMs: performance.now() - startedAt,
  })

  let child: ChildProcess
  const pipes = openPipes(request)
  try {
    child = spawnChild(request, pipes)
  } catch (error) {
    closePipes(pipes)
    return finish({ spawnError: error as NodeJS.ErrnoException })
  } finally {
    closeDescriptors(request.command.descriptors)
    closeDescriptors(pipes.map(({ childEnd }) => childEnd))
  }
  const { pid } = child
  if (pid === undefined) {
    closePipes(pipes)
    return finish({ spawnError: await spawnFailure(child) })
  }

  const tree = { pid, marker: request.marker }
  let terminated: TerminationReason | undefined
  let callerError: unknown
  let killing: Promise<void> | undefined
  const exited = exitOf(child)
  let hasExited = false
  const drain = new AbortController()
  const terminate = (reason: TerminationReason): void => {
    // The number of an exited process may be somebody else's: from then on there is only the wait to cut short.
    if (hasExited && reason === 'timeout') {
      // It was in time. Who is slow to take what it printed gets no more of it.
      for (const reader of readers) reader.letGo()
      return
    }
    terminated ??= reason
    if (hasExited) drain.abort()
    else if (request.namespaceKill) killGroup(pid)
    else killing ??= killTree(tree, { ageMs: performance.now() - startedAt, exited })
  }

  const fail = (error: unknown): void => {
    callerError ??= error
    terminate('caller-failed')
  }
  const timer = setTimeout(() => terminate('timeout'), request.timeoutMs)
  const onAbort = (): void => terminate('aborted')
  let unwatch: (() => void) | undefined
  const readers = outputsOf(child, pipes).map(([name, stream]) =>
    readStream(name, stream, buffer, request.onOutput, fail),
  )
  try {
    request.hooks.onStart?.(pid)
    request.signal?.addEventListener('abort', onAbort, { once: true })
    if (request.memoryMb !== null) {
      unwatch = watchMemory(tree, request.memoryMb, () => terminate('memory'))
    }
    // A command that has ended needed no more of its input.
    feed(child.stdin, request.stdin, (error) => {
      if (!hasExited) fail(error)
    })
    // An abort between the caller's check and the listener.
    if (request.signal?.aborted === true) onAbort()
  } catch (error) {
    // Whatever an object of the caller throws, no process is left behind.
    clearTimeout(timer)
    terminate('caller-failed')
    await exited
    await killing
    throw error
  }

  const { code, signal } = await exited
  hasExited = true
  request.hooks.onExit?.()
  if (killing === undefined && !request.namespaceKill) {
    killing = killLeftovers(tree, performance.now() - startedAt)
  }
  await killing
  // In a namespace every writer is dead by now; elsewhere one may have escaped and still hold the pipe.
  if (request.namespaceKill && terminated === undefined)
    await emptied(readers, buffer, drain.signal)
  else await drained(readers, drain.signal)
  for (const reader of readers) reader.stop()
  clearTimeout(timer)
  request.signal?.removeEventListener('abort', onAbort)
  unwatch?.()
  child.stdin?.destroy()
  return finish({ terminated, exitCode: code, signal, callerError })
}

/** Real pipes for the output, one for both streams or one for each; none where they cannot be had. */
function openPipes({ mergeOutput }: RunCommandRequest): readonly CommandPipe[] {
  const wanted = mergeOutput ? 1 : 2
  const pipes = Array.from({ length: wanted }, openCommandPipe).filter((pipe) => pipe !== undefined)
  if (pipes.length === wanted) return pipes
  closeDescriptors(pipes.map(({ childEnd }) => childEnd))
  closePipes(pipes)
  return []
}

function closePipes(pipes: readonly CommandPipe[]): void {
  for (const { stream } of pipes) stream.destroy()
}

function spawnChild(
  { command, cwd, stdin }: RunCommandRequest,
  [stdout, stderr = stdout]: readonly CommandPipe[],
): ChildProcess {
  return spawn(command.file, command.args, {
    cwd,
    env: command.env,
    // Leader of a group and a session of its own, so that one signal reaches all who stay.
    detached: true,
    stdio: [
      stdin === undefined ? 'ignore' : 'pipe',
      stdout?.childEnd ?? 'pipe',
      stderr?.childEnd ?? 'pipe',
      ...descriptorSlots(command.descriptors),
    ],
    windowsHide: true,
  })
}

function outputsOf(
  child: ChildProcess,
  pipes: readonly CommandPipe[],
): (readonly [OutputStream, Readable])[] {
  const streams =
    pipes.length === 0 ? [child.stdout, child.stderr] : pipes.map(({ stream }) => stream)
  return streams.flatMap((stream, index) =>
    stream === null ? [] : [[index === 0 ? 'stdout' : 'stderr', stream] as const],
  )
}

function spawnFailure(child: ChildProcess): Promise<NodeJS.ErrnoException> {
  return new Promise((resolve) => child.once('error', resolve))
}

function exitOf(
  child: ChildProcess,
): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    // A kill that failed reports here; the exit still comes.
    child.on('error', () => {})
  })
}

function feed(
  stdin: Writable | null,
  input: CommandInput | undefined,
  onFailure: (error: unknown) => void,
): void {
  if (stdin === null || input === undefined) return
  // A command that does not read its input closes the pipe; that is its right (EPIPE).
  stdin.on('error', () => {})
  if (typeof input === 'string' || input instanceof Uint8Array) stdin.end(input)
  else pipeline(piecesOf(input, onFailure), stdin).catch(() => stdin.destroy())
}

/** What a source gives. Its own failure is told apart from those of the pipe: half of an input must not pass for all. */
async function* piecesOf(
  input: AsyncIterable<string | Uint8Array>,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const piece of input) yield toBytes(piece)
  } catch (error) {
    onFailure(error)
    throw error
  }
}

interface StreamReader {
  readonly ended: Promise<void>
  /** True while `onOutput` holds the stream back. */
  readonly waiting: () => boolean
  /** Ends the waiting for `onOutput`, which gets nothing more; the rest is still read. */
  readonly letGo: () => void
  readonly stop: () => void
}

function readStream(
  name: OutputStream,
  stream: Readable,
  buffer: OutputBuffer,
  onOutput: RunCommandRequest['onOutput'],
  onFailure: (error: unknown) => void,
): StreamReader {
  let consumer = onOutput
  let waiting = false
  const fail = (error: unknown): void => {
    consumer = undefined
    onFailure(error)
  }
  const goOn = (): void => {
    if (!waiting) return
    waiting = false
    stream.resume()
  }
  stream.on('data', (bytes: Buffer) => {
    buffer.push(name, bytes)
    if (consumer === undefined) {
      release(bytes)
      return
    }
    try {
      const ready: unknown = consumer({ stream: name, bytes })
      // What an arrow function happens to return, such as the length that `push` gives, is nothing to wait for.
      if (!isThenable(ready)) return
      waiting = true
      stream.pause()
      Promise.resolve(ready).catch(fail).finally(goOn)
    } catch (error) {
      fail(error)
    }
  })
  const ended = new Promise<void>((resolve) => {
    stream.once('end', resolve)
    stream.once('error', () => resolve())
    stream.once('close', resolve)
  })
  const letGo = (): void => {
    consumer = undefined
    goOn()
  }
  return { ended, waiting: () => waiting, letGo, stop: () => stream.destroy() }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/**
 * Frees the memory of a chunk that has been copied. The collector would let some 80 MB of them pile up first, since to
 * it each is a small object.
 */
function release(bytes: Buffer): void {
  const memory = bytes.buffer as ArrayBuffer
  if (bytes.length === memory.byteLength) memory.transfer(0)
}

/** Waits until both streams have ended, or {@link drainMs} have passed in which nobody but us could have read. */
async function drained(readers: readonly StreamReader[], cut: AbortSignal): Promise<void> {
  const cutShort = new Promise<true>((resolve) => {
    cut.addEventListener('abort', () => resolve(true), { once: true })
    if (cut.aborted) resolve(true)
  })
  const ended = Promise.race([
    cutShort,
    Promise.all(readers.map((reader) => reader.ended)).then(() => true),
  ])
  for (;;) {
    let timer: NodeJS.Timeout | undefined
    const elapsed = new Promise<false>((resolve) => {
      // One more turn of the loop after the time is up: what is in the pipe by then is read even on a busy machine.
      timer = setTimeout(() => setImmediate(resolve, false), drainMs)
    })
    const done = await Promise.race([ended, elapsed])
    clearTimeout(timer)
    if (done || readers.every((reader) => !reader.waiting())) return
  }
}

/**
 * Waits until the pipes are empty: a whole turn of the event loop in which nothing came. Faster by a millisecond or two
 * than their end, which comes when the kernel has taken the namespace down.
 */
async function emptied(
  readers: readonly StreamReader[],
  buffer: OutputBuffer,
  cut: AbortSignal,
): Promise<void> {
  let seen = -1
  for (let quietTurns = 0; !cut.aborted;) {
    const busy = readers.some((reader) => reader.waiting())
    quietTurns = busy || seen !== buffer.totalBytes ? 0 : quietTurns + 1
    // The turn in which the exit was seen may have begun before the last bytes came.
    if (quietTurns > 1) return
    seen = buffer.totalBytes
    // A consumer that is busy is looked at now and then; its promise decides.
    await new Promise<void>((resolve) => {
      if (busy) setTimeout(resolve, 1)
      else setImmediate(resolve)
    })
  }
}
