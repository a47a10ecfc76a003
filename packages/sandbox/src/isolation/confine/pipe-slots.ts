import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import type { HelperPipe } from './frame-reader.ts'
import { encodePipes } from './frames.ts'

/** Our end of a pipe to or from a command, and the number by which the helper knows it. */
export interface TakenPipe {
  readonly pipe: HelperPipe
  readonly stream: Socket
}

/** As many as one command may need. */
const needed = 3
const low = 12
const batch = 24

/**
 * Pipes that the helper made in advance. Each serves one command only: a process that kept one from an earlier command
 * could otherwise read what a later one prints.
 */
export class PipeSlots {
  readonly #helper: number
  readonly #send: (frame: Buffer) => void
  readonly #ready: HelperPipe[] = []
  #isFilling = false
  #isExhausted = false
  #waiting: (() => void)[] = []

  constructor(helper: number, send: (frame: Buffer) => void) {
    this.#helper = helper
    this.#send = send
    this.#fill()
  }

  /** Whether waiting makes no difference: there are enough for one command, or the helper cannot make any. */
  get isSettled(): boolean {
    return this.#ready.length >= needed || this.#isExhausted
  }

  /** Settles when more pipes have come, or none will. Other commands may take them first. */
  more(): Promise<void> {
    this.#fill()
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  /** What the helper answered. */
  add(pipes: readonly HelperPipe[]): void {
    this.#isFilling = false
    this.#isExhausted = pipes.length === 0
    this.#ready.push(...pipes)
    this.release()
  }

  /** Lets go of those who wait. */
  release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /**
   * Opens our end of a new pipe: the one to read from, or the one to write to.
   *
   * @throws what opening a file throws, such as for too many open files
   */
  take(end: 'read' | 'write'): TakenPipe {
    const pipe = this.#ready.shift()
    if (pipe === undefined)
      throw new Error('The helper has no more pipes: too many files are open.')
    if (this.#ready.length < low) this.#fill()
    const [number, access] =
      end === 'read' ? [pipe.readEnd, constants.O_RDONLY] : [pipe.writeEnd, constants.O_WRONLY]
    try {
      const fd = openSync(`/proc/${this.#helper}/fd/${number}`, access | constants.O_NONBLOCK)
      const stream = new Socket({ fd, readable: end === 'read', writable: end === 'write' })
      // A command that closes its end early is no failure of ours.
      stream.on('error', () => {})
      return { pipe, stream }
    } catch (error) {
      this.#ready.unshift(pipe)
      throw error
    }
  }

  /** Takes back a pipe that no command has seen. */
  giveBack({ pipe, stream }: TakenPipe): void {
    stream.destroy()
    this.#ready.push(pipe)
  }

  #fill(): void {
    if (this.#isFilling) return
    this.#isFilling = true
    this.#send(encodePipes(batch))
  }
}
