import type { ProgressToken, ServerContext } from '@modelcontextprotocol/server'
import { printableLine, shortened } from '../text/printable.ts'

/** What a person at the client sees of a call that runs. */
export interface CallProgress {
  /** The call has begun. */
  start(): void
  /** The command printed this. */
  printed(bytes: Uint8Array): void
  /** A tool that streams has this much so far. */
  streamed(value: unknown): void
  stop(): void
}

const everyMs = 1000
const longestLine = 200
const keptBytes = 4096

/**
 * Tells the client of a call's progress, when its request has a token: at the start, then every second the time that has
 * passed, how much a command has printed, and its last line.
 */
export function createCallProgress(
  token: ProgressToken | undefined,
  notify: ServerContext['mcpReq']['notify'],
): CallProgress {
  if (token === undefined) return silent
  const startedAt = performance.now()
  const output = new PrintedOutput()
  let timer: NodeJS.Timeout | undefined
  const tell = (progress: number, message: string): void => {
    const params = { progressToken: token, progress, message }
    // A client that has left is no failure of the call.
    notify({ method: 'notifications/progress', params }).catch(() => {})
  }
  return {
    start() {
      tell(0, 'started')
      timer = setInterval(() => {
        const seconds = Math.round((performance.now() - startedAt) / 1000)
        tell(seconds, `${seconds} s${output.summary()}`)
      }, everyMs).unref()
    },
    printed: (bytes) => output.add(bytes),
    streamed(value) {
      if (typeof value === 'string') output.replace(value)
    },
    stop: () => clearInterval(timer),
  }
}

const silent: CallProgress = { start() {}, printed() {}, streamed() {}, stop() {} }

/** How much was printed, and the end of it. */
class PrintedOutput {
  #total = 0
  #end: Buffer = Buffer.alloc(0)

  add(bytes: Uint8Array): void {
    this.#total += bytes.length
    this.#end = Buffer.concat([this.#end, bytes]).subarray(-keptBytes)
  }

  replace(text: string): void {
    const bytes = Buffer.from(text)
    this.#total = bytes.length
    this.#end = bytes.subarray(-keptBytes)
  }

  summary(): string {
    if (this.#total === 0) return ''
    const line = this.#end.toString().trimEnd().split('\n').at(-1) ?? ''
    return `, ${this.#total} bytes: ${shortened(printableLine(line), longestLine)}`
  }
}
