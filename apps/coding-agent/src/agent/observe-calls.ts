import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import type { ViolationEvent } from '@smithers/sandbox'
import { isSmithersError } from '@smithers/tool-core'
import type { CallConnections, ToolCallEvent } from '@smithers/tool-core'
import { parsedJson } from '@smithers/cli/src/log/call-outcome.ts'
import type { StartedCall } from '@smithers/cli/src/terminal/call-line.ts'
import type { RunReporter } from '../terminal/run-reporter.ts'

/** The calls of a run being reported. */
export interface ObservedCalls {
  /** Number of calls that have begun. */
  count(): number
  /** Stops reporting once every call has ended, which takes a moment after an abort. */
  stop(): Promise<void>
}

/** Reports every call of a run as it begins and ends, from the events that each defined tool publishes. */
export function observeCalls(
  runId: string,
  reporter: Pick<RunReporter, 'callStarted' | 'callEnded' | 'violationFound'>,
): ObservedCalls {
  const channel = tracingChannel<unknown, ToolCallEvent>('smithers:tool-call')
  const running = new Set<string>()
  let count = 0
  let noneRuns: (() => void) | undefined
  const started = (message: unknown): void => {
    const event = message as ToolCallEvent
    if (event.runId !== runId) return
    count += 1
    running.add(event.callToken)
    reporter.callStarted(startedCall(event))
  }
  const ended = (message: unknown): void => {
    const event = message as ToolCallEvent
    if (event.runId !== runId) return
    reporter.callEnded({
      ...startedCall(event),
      durationMs: (event.finishedAtMs ?? Date.now()) - event.startedAtMs,
      code: event.status === 'error' ? errorCode(event.error) : null,
      message: event.status === 'error' ? errorMessage(event.error) : null,
      replayed: (event.replayOf ?? null) !== null,
      ...(event.networkJson !== undefined && {
        network: JSON.parse(event.networkJson) as CallConnections,
      }),
    })
    running.delete(event.callToken)
    if (running.size === 0) noneRuns?.()
  }
  const violated = (message: unknown): void => {
    reporter.violationFound((message as ViolationEvent).violation)
  }
  subscribe('smithers:sandbox-violation', violated)
  channel.start.subscribe(started)
  channel.asyncEnd.subscribe(ended)
  return {
    count: () => count,
    async stop() {
      if (running.size > 0) await new Promise<void>((resolve) => (noneRuns = resolve))
      unsubscribe('smithers:sandbox-violation', violated)
      channel.start.unsubscribe(started)
      channel.asyncEnd.unsubscribe(ended)
    },
  }
}

function startedCall(event: ToolCallEvent): StartedCall {
  return {
    id: event.callToken,
    seq: event.seq,
    toolName: event.toolName,
    input: parsedJson(event.inputJson),
  }
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function errorCode(error: unknown): string {
  return isSmithersError(error) ? error.code : 'ERROR'
}
