import { setTimeout as sleep } from 'node:timers/promises'
import type { LogReader } from '../reading/log-reader.ts'

/** The version of a log, looked at every 250 ms while a request waits, however many do. */
export class ChangeWatch {
  readonly #reader: LogReader
  #look: Promise<string> | undefined

  constructor(reader: LogReader) {
    this.#reader = reader
  }

  /** Waits until the version differs, the time is over or the signal ends the wait; returns the version. */
  async until(since: string, waitMs: number, signal: AbortSignal): Promise<string> {
    const deadline = performance.now() + waitMs
    let version = await this.#reader.version()
    while (version === since && performance.now() < deadline && !signal.aborted) {
      version = await this.#next()
    }
    return version
  }

  #next(): Promise<string> {
    this.#look ??= sleep(lookEveryMs)
      .then(() => this.#reader.version())
      .finally(() => {
        this.#look = undefined
      })
    return this.#look
  }
}

const lookEveryMs = 250
