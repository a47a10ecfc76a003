import type { CommandEnd, RunningCommand } from '../isolation/running-command.ts'
import { type CapturedOutput, OutputBuffer } from './output/output-buffer.ts'
import {
  drained,
  emptied,
  type OutputChunk,
  readStream,
  type StreamReader,
} from './output/read-output.ts'
import { type ExceededLimit, type WatchedUse, watchUse } from './resource-limits/watch-use.ts'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toBytes } from '../files/io/text-encoding.ts'

/** What {@link supervise} needs besides the command. */
export interface SuperviseRequest {
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  readonly signal: AbortSignal | undefined
  /** Aborted when the sandbox is closed. */
  readonly closing?: AbortSignal | undefined
  readonly stdin: CommandInput | undefined
  readonly onOutput: ((chunk: OutputChunk) => void | Promise<void>) | undefined
  readonly watch: WatchedUse
  readonly hooks: RunHooks
}

/** Callbacks while a command runs. */
export interface RunHooks {
  readonly onStart?: (pid: number) => void
  /** The command has ended; some of its output may still be in the pipes. */
  readonly onExit?: () => void
}

/** How a command ended, and what it printed. */
export interface CommandOutcome extends CapturedOutput {
  readonly end: CommandEnd
  readonly terminated: TerminationReason | undefined
  readonly durationMs: number
  /** What `onOutput` or the source of the input threw. */
  readonly callerError: unknown
}

/** Why a command was ended before it ended by itself. */
export type TerminationReason = 'timeout' | 'aborted' | 'caller-failed' | ExceededLimit

/**
 * Third step of a command: feeds and reads it, and ends it in time. Timeout, abort and failure take one path: SIGKILL to
 * everything that the command started. Settles when the command has ended, after at most `drainMs` for the rest of its
 * output, not when the last process that holds the pipe closes it.
 */
export async function supervise(
  running: RunningCommand,
  request: SuperviseRequest,
): Promise<CommandOutcome> {
  const startedAt = performance.now()
  const buffer = new OutputBuffer(request.maxOutputBytes)
  const watch = new Supervision(running, request)
  const readers = running.outputs.map(([name, stream]) =>
    readStream(name, stream, buffer, request.onOutput, watch.fail),
  )
  await watch.begin(readers)
  const end = await running.ended
  request.hooks.onExit?.()
  const isComplete = end.kind === 'exited' && end.allEnded && watch.terminated === undefined
  // Where every writer is dead, empty pipes stay empty; elsewhere a process may still hold one.
  if (isComplete) await emptied(readers, buffer, watch.cut)
  else if (end.kind !== 'not-started') await drained(readers, watch.cut)
  watch.stop()
  return {
    ...buffer.capture(),
    end,
    terminated: watch.terminated,
    callerError: watch.callerError,
    durationMs: performance.now() - startedAt,
  }
}

/** The reasons to end one command, and what they have done so far. */
class Supervision {
  terminated: TerminationReason | undefined
  callerError: unknown
  readonly #running: RunningCommand
  readonly #request: SuperviseRequest
  readonly #cut = new AbortController()
  #readers: readonly StreamReader[] = []
  #hasEnded = false
  #timer: NodeJS.Timeout | undefined
  #unwatch: (() => void) | undefined

  constructor(running: RunningCommand, request: SuperviseRequest) {
    this.#running = running
    this.#request = request
  }

  /** Aborts when waiting for the rest of the output makes no sense any more. */
  get cut(): AbortSignal {
    return this.#cut.signal
  }

  /** Sets the timer, listens to the signal and feeds the input. Whatever the caller's objects throw, no process is left. */
  async begin(readers: readonly StreamReader[]): Promise<void> {
    const { timeoutMs, signal, closing, watch, stdin, hooks } = this.#request
    this.#readers = readers
    void this.#running.started.then((pid) => {
      if (pid !== undefined) hooks.onStart?.(pid)
    })
    void this.#running.ended.then(() => {
      this.#hasEnded = true
    })
    this.#timer = setTimeout(() => this.#terminate('timeout'), timeoutMs)
    try {
      closing?.addEventListener('abort', this.#onAbort, { once: true })
      signal?.addEventListener('abort', this.#onAbort, { once: true })
      const processes = (): readonly number[] => this.#running.processes()
      this.#unwatch = watchUse(processes, watch, (limit) => this.#terminate(limit))
      // A command that has ended needed no more of its input.
      feed(this.#running.stdin, stdin, async (error) => {
        if (this.#hasEnded) return
        this.fail(error)
        await this.#running.ended
      })
      // An abort between the caller's check and the listener.
      if (signal?.aborted === true || closing?.aborted === true) this.#onAbort()
    } catch (error) {
      clearTimeout(this.#timer)
      this.#terminate('caller-failed')
      await this.#running.ended
      throw error
    }
  }

  readonly fail = (error: unknown): void => {
    this.callerError ??= error
    this.#terminate('caller-failed')
  }

  stop(): void {
    for (const reader of this.#readers) reader.stop()
    clearTimeout(this.#timer)
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
    this.#unwatch?.()
    this.#running.stdin?.destroy()
  }

  readonly #onAbort = (): void => this.#terminate('aborted')

  #terminate(reason: TerminationReason): void {
    const wasRunning = this.#running.kill()
    if (!wasRunning && reason === 'timeout') {
      // The command was in time. A consumer that is still busy gets no further output.
      for (const reader of this.#readers) reader.letGo()
      return
    }
    this.terminated ??= reason
    if (!wasRunning) this.#cut.abort()
  }
}

/** What a command reads from standard input. */
export type CommandInput = string | Uint8Array | AsyncIterable<string | Uint8Array>

/**
 * Writes the input and ends it. `onFailure` gets what the caller's own source threw, and no other error; the pipe stays
 * open until it settles, for a command that saw the end of half an input would go on as if it had all of it.
 */
function feed(
  stdin: Writable | null,
  input: CommandInput | undefined,
  onFailure: (error: unknown) => Promise<void>,
): void {
  if (stdin === null || input === undefined) return
  // A command that does not read its input closes the pipe; that is its right (EPIPE).
  stdin.on('error', () => {})
  if (typeof input === 'string' || input instanceof Uint8Array) stdin.end(input)
  else pipeline(piecesOf(input, onFailure), stdin).catch(() => stdin.destroy())
}

/** The pieces of a source. Its failure is reported, unlike the pipe's. */
async function* piecesOf(
  input: AsyncIterable<string | Uint8Array>,
  onFailure: (error: unknown) => Promise<void>,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    for await (const piece of input) yield toBytes(piece)
  } catch (error) {
    await onFailure(error)
    throw error
  }
}
