import type { PartAttributes, TraceContext } from '../contract/telemetry.ts'
import type { ToolContext } from '../contract/task-context.ts'
import { recordOf } from './record-network-use.ts'

/** A part of a call that telemetry watches by itself. */
export interface CallPart {
  /** For the environment of a command: `TRACEPARENT`, `TRACESTATE`. Empty when nothing watches, or must not be passed on. */
  readonly traceContext: TraceContext
  /** The part is over. A second end is ignored. */
  end(attributes?: PartAttributes, failed?: boolean): void
}

/**
 * Begins a part of a call that takes time of its own, such as a command: a span beneath the one of the call. Does nothing
 * when nothing watches the call.
 *
 * @example
 * const part = beginCallPart(ctx, 'convert page', { 'page.number': 3 })
 * try { … } finally { part.end() }
 */
export function beginCallPart(
  ctx: ToolContext,
  name: string,
  attributes: PartAttributes = {},
): CallPart {
  const part = recordOf(ctx)?.trace?.beginPart(name, attributes)
  if (part === undefined) return unwatched
  let isOver = false
  return {
    traceContext: part.traceContext,
    end: (more = {}, failed = false) => {
      if (isOver) return
      isOver = true
      part.end({ attributes: more, failed })
    },
  }
}

const unwatched: CallPart = Object.freeze({ traceContext: Object.freeze({}), end: () => undefined })
