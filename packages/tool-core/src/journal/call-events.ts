import { tracingChannel, type TracingChannel } from 'node:diagnostics_channel'
import type { FinishPatch, StartRow } from '../log/tool-call-log.ts'
import type { CallEffect } from '../errors/smithers-error.ts'

/**
 * What subscribers of `tracingChannel('smithers:tool-call')` get: one object a call, the same in each of its events.
 * Payloads are what the log sees, after mapping, redaction and limits.
 *
 * As with every tracing channel of Node, `start` and `end` enclose the synchronous part of the tool, `asyncStart` and
 * `asyncEnd` follow when its row is finished, and `error` precedes them for a failed call.
 */
export interface ToolCallEvent extends Readonly<StartRow> {
  /** From here on: set before `asyncStart`. */
  finishedAtMs?: number
  status?: 'success' | 'error'
  effect?: CallEffect
  outputJson?: string | null
  errorJson?: string | null
  networkJson?: string
  /** What was thrown; a stand-in made of `errorJson` when the log may not see all of it. */
  error?: unknown
  /** The snapshot hook failed, the call did not: set before `asyncEnd`. */
  snapshotError?: unknown
}

// One object for all copies of the package: Node keeps channels by name.
const channel: TracingChannel<unknown, ToolCallEvent> = tracingChannel('smithers:tool-call')

/** The events of one call. */
export class CallEvents {
  #event: ToolCallEvent | undefined

  /** Runs the synchronous part of a call between `start` and `end`; without listeners, just runs it. */
  around<Result>(row: StartRow, fn: () => Result): Result {
    if (!channel.hasSubscribers) return fn()
    const event: ToolCallEvent = { ...row }
    this.#event = event
    try {
      // Binds what subscribers attached to `start`, such as the active span, for everything the tool does.
      return channel.start.runStores(event, fn)
    } finally {
      channel.end.publish(event)
    }
  }

  /** Publishes how the call ended; `visibleError` is called only with subscribers. */
  settle(row: StartRow, patch: FinishPatch, visibleError: () => unknown): void {
    // A call that was refused has no synchronous part.
    if (this.#event === undefined) this.around(row, nothing)
    const event = this.#event
    if (event === undefined) return
    Object.assign(event, patch)
    if (patch.status === 'error') {
      event.error = visibleError()
      channel.error.publish(event)
    }
    channel.asyncStart.publish(event)
  }

  /** Tells that the call is over, and whether its snapshot hook failed. */
  end(snapshotError: unknown): void {
    if (this.#event === undefined) return
    if (snapshotError !== undefined) this.#event.snapshotError = snapshotError
    channel.asyncEnd.publish(this.#event)
  }
}

function nothing(): void {}
