import { StringDecoder } from 'node:string_decoder'
import type { NetworkUse, OutputChunk, OutputStream, RunResult } from '@smithers/sandbox'
import { messagesOf, outcomeOf } from './bash-result.ts'

/** Characters of output that wait to be read; of more, the oldest are dropped. */
const maxWaiting = 200_000

/** A command that runs while the agent does something else. */
export class BackgroundJob {
  readonly id: string = `job_${crypto.randomUUID().slice(0, 8)}`
  /** Settles when the command has ended; never rejects. */
  readonly ended: Promise<void>
  readonly #name: string
  readonly #startedAt: number = performance.now()
  readonly #abort: AbortController = new AbortController()
  readonly #decoders: Record<OutputStream, StringDecoder> = {
    stdout: new StringDecoder(),
    stderr: new StringDecoder(),
  }
  #hasTold = false
  #waiting = ''
  #dropped = 0
  #result: RunResult | undefined
  #error: unknown
  #wake: () => void = () => {}

  /** @param run Starts the command; it is given what ends it, and what takes its output. */
  constructor(
    name: string,
    run: (signal: AbortSignal, onOutput: (chunk: OutputChunk) => void) => Promise<RunResult>,
  ) {
    this.#name = name
    this.ended = this.#follow(run(this.#abort.signal, (chunk) => this.#take(chunk)))
  }

  async #follow(running: Promise<RunResult>): Promise<void> {
    try {
      this.#result = await running
    } catch (error) {
      this.#error = error
      this.#abort.abort()
    }
    this.#wake()
  }

  get isRunning(): boolean {
    return this.#result === undefined && this.#error === undefined
  }

  /** How it ended; undefined while it runs. @throws what kept it from being started */
  get result(): RunResult | undefined {
    if (this.#error !== undefined) throw this.#error
    return this.#result
  }

  /** Its connections, once, when it has ended. */
  takeNetworkUse(): NetworkUse | undefined {
    const use = this.#hasTold ? undefined : this.result?.network
    this.#hasTold = use !== undefined || this.#hasTold
    return use
  }

  /** Kills it with everything it has started. */
  kill(): void {
    this.#abort.abort()
  }

  /** Waits until something was printed or it has ended, at most so long or until the signal is aborted. */
  async news(longestMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.isRunning || this.#waiting !== '' || longestMs === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, longestMs)
    signal?.addEventListener('abort', () => resolve(), { once: true })
    await promise
    clearTimeout(timer)
  }

  /** What was printed since the last reading, and the state of the command. */
  read(): string {
    const result = this.result
    const dropped = this.#dropped === 0 ? '' : `[… ${this.#dropped} characters were dropped …]\n`
    const text = this.#waiting
    this.#waiting = ''
    this.#dropped = 0
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000)
    const state =
      result === undefined
        ? `${this.id} is running, for ${seconds} s now: ${this.#name}`
        : [`${this.id} ${this.#outcome(result)}`, ...messagesOf(result)].join(' ')
    return `${dropped}${text}${gap}[${state}]`
  }

  #outcome(result: RunResult): string {
    if (result.status === 'aborted') return 'was killed.'
    if (result.error !== undefined) return `failed. ${result.error.message}`
    return `${outcomeOf(result)}.${result.hint === undefined ? '' : ` ${result.hint}`}`
  }

  #take({ stream, bytes }: OutputChunk): void {
    this.#waiting += this.#decoders[stream].write(Buffer.from(bytes))
    const excess = this.#waiting.length - maxWaiting
    if (excess > 0) {
      this.#dropped += excess
      this.#waiting = this.#waiting.slice(excess)
    }
    this.#wake()
  }
}
