import type { Readable } from 'node:stream'
import { drainMs } from '../../options/limits.ts'
import type { OutputBuffer } from './output-buffer.ts'
import type { OutputStream } from '../../isolation/running-command.ts'

/** A piece of output, as it arrives. */
export interface OutputChunk {
  readonly stream: OutputStream
  readonly bytes: Uint8Array
}

/** One stream that is being read. */
export interface StreamReader {
  readonly ended: Promise<void>
  /** True while `onOutput` holds the stream back. */
  readonly waiting: () => boolean
  /** Ends the waiting for `onOutput`, which gets nothing more; the rest is still read. */
  readonly letGo: () => void
  readonly stop: () => void
}

/**
 * Reads a stream into the buffer and hands each piece to `onOutput`, whose promise holds the stream back. `onFailure`
 * gets what `onOutput` threw.
 */
export function readStream(
  name: OutputStream,
  stream: Readable,
  buffer: OutputBuffer,
  onOutput: ((chunk: OutputChunk) => void | Promise<void>) | undefined,
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

/** Waits until both streams have ended, or `drainMs` have passed while no consumer was busy. */
export async function drained(readers: readonly StreamReader[], cut: AbortSignal): Promise<void> {
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
export async function emptied(
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
    // Wait for a busy consumer's promise.
    await new Promise<void>((resolve) => {
      if (busy) setTimeout(resolve, 1)
      else setImmediate(resolve)
    })
  }
}
