import { tracingChannel, type TracingChannel } from 'node:diagnostics_channel'
import type { CallEffect } from '../smithers-error.ts'

/**
 * What subscribers of `tracingChannel('smithers:tool-call')` get: one object a call, the same in each of its events.
 * Payloads are what the log sees, after mapping, redaction and limits.
 *
 * As with every tracing channel of Node, `start` and `end` enclose the synchronous part of the tool, `asyncStart` and
 * `asyncEnd` follow when its row is finished, and `error` precedes them for a failed call.
 */
export interface ToolCallEvent {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  readonly attempt: number
  readonly seq: number
  readonly callToken: string
  readonly toolName: string
  readonly toolCallId: string | null
  readonly idempotencyKey: string | null
  readonly inputHash: string | null
  readonly occurrence: number
  readonly sideEffect: boolean
  readonly idempotent: boolean
  readonly startedAtMs: number
  readonly inputJson: string | null
  /** From `asyncStart` on. */
  finishedAtMs?: number
  status?: 'success' | 'error'
  effect?: CallEffect
  outputJson?: string | null
  errorJson?: string | null
  replayOf?: string | null
  /** What was thrown. */
  error?: unknown
  /** The snapshot hook failed; the call did not. */
  snapshotError?: unknown
}

/** The channel on which every call of a defined tool is published. Free while nobody listens. */
export const toolCallChannel: TracingChannel<unknown, ToolCallEvent> =
  tracingChannel('smithers:tool-call')
