import type { VNode } from 'preact'
import type { CallSegment, CallSummary } from '../../api/calls.ts'
import type { TimeSpan } from '../model/viewer-state.ts'
import { percentOf } from './time-axis.ts'

interface LaneProps {
  readonly call: CallSummary
  readonly span: TimeSpan
  readonly nowMs: number
}

/** The bar of a call on the axis of the run. Waits are hatched; a call without an end has an open outline. */
export function Lane({ call, span, nowMs }: LaneProps): VNode {
  return (
    <svg class="lane" data-outcome={call.outcome} aria-hidden="true" focusable="false">
      {call.segments.map((segment) => (
        <Bar key={`${segment.kind} ${segment.fromMs}`} {...{ segment, span, nowMs }} />
      ))}
    </svg>
  )
}

function Bar({
  segment,
  span,
  nowMs,
}: {
  segment: CallSegment
  span: TimeSpan
  nowMs: number
}): VNode {
  const from = percentOf(segment.fromMs, span)
  const to = percentOf(segment.toMs ?? nowMs, span)
  return (
    <rect
      class={segment.kind === 'run' ? 'bar' : 'bar wait'}
      x={`${from}%`}
      width={`${Math.max(to - from, 0.15)}%`}
      y="30%"
      height="40%"
      rx="2"
    />
  )
}
