import type { VNode } from 'preact'
import type { CallSummary } from '../../api/calls.ts'
import type { TimeSpan } from '../model/viewer-state.ts'
import { OutcomeBadge } from '../parts/icons.tsx'
import { duration } from '../text/format.ts'
import { visibleLine } from '../text/visible-text.ts'
import { Lane } from './lane.tsx'

interface CallRowProps {
  /** Undefined while it is being read. */
  readonly call: CallSummary | undefined
  readonly selected: boolean
  /** It ran at the same time as the call above it, or the one beneath. */
  readonly parallel: { readonly above: boolean; readonly below: boolean }
  readonly span: TimeSpan
  readonly nowMs: number
  /** The row that the Tab key reaches. */
  readonly reachable: boolean
  readonly select: () => void
}

/** One call as one line. */
export function CallRow(props: CallRowProps): VNode {
  const { call, selected, parallel, span, nowMs, reachable, select } = props
  if (call === undefined) {
    return (
      <div class="call pending" aria-hidden="true">
        <span />
        <span class="ghost" />
        <svg class="lane" />
      </div>
    )
  }
  const took = tookOf(call, nowMs)
  const together = parallel.above || parallel.below
  return (
    <button
      type="button"
      class="call"
      data-token={call.callToken}
      data-outcome={call.outcome}
      aria-current={selected ? 'true' : undefined}
      tabIndex={reachable ? 0 : -1}
      onClick={select}
    >
      <span
        class="seq"
        data-above={parallel.above ? '' : undefined}
        data-below={parallel.below ? '' : undefined}
        title={together ? 'Ran at the same time as the call beside it' : undefined}
      >
        {call.seq}
      </span>
      <span class="what">
        <span class="tool mono">{visibleLine(call.toolName)}</span>
        <span class="summary">{visibleLine(call.summary)}</span>
      </span>
      <Lane {...{ call, span, nowMs }} />
      <span class="took">{took === null ? '' : duration(took)}</span>
      <span class="outcome">
        <OutcomeBadge outcome={call.outcome} />
      </span>
    </button>
  )
}

/** How long the call took, waits included; for one that is not over, until now. */
function tookOf(call: CallSummary, nowMs: number): number | null {
  if (call.outcome === 'unknown') return null
  const from = Math.min(call.startedAtMs, ...call.segments.map((segment) => segment.fromMs))
  return (call.finishedAtMs ?? nowMs) - from
}

/** Whether two calls ran at the same time. */
export function overlaps(a: CallSummary | undefined, b: CallSummary | undefined): boolean {
  if (a === undefined || b === undefined) return false
  if (a.nodeId !== b.nodeId || a.iteration !== b.iteration || a.attempt !== b.attempt) return false
  return a.startedAtMs < endOf(b) && b.startedAtMs < endOf(a)
}

function endOf({ finishedAtMs }: CallSummary): number {
  return finishedAtMs ?? Infinity
}
