import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { CallGroup, CallSummary } from '../../api/calls.ts'
import { selectCall } from '../model/select-call.ts'
import type { OpenRun, TimeSpan } from '../model/viewer-state.ts'
import { useViewer } from '../parts/use-viewer.ts'
import { CallRow, overlaps } from './call-row.tsx'
import { GroupEnd, GroupHead } from './group-rows.tsx'
import type { TimelineItem } from './timeline-items.ts'

interface LineProps {
  readonly item: TimelineItem
  readonly run: OpenRun
  readonly span: TimeSpan
  readonly nowMs: number
  /** The selected call, and where it was last seen. */
  readonly callToken: string | null
  readonly selectedAt: number | null
}

/** One line of the timeline. It is drawn again only when what it shows has changed: there are many, and each key is one. */
export function TimelineLine(props: LineProps): VNode {
  const { item, run, span, nowMs, callToken, selectedAt } = props
  const viewer = useViewer()
  const { group } = item
  const position = item.kind === 'call' ? item.position : -1
  const call = run.calls.get(position)
  const above = overlaps(run.calls.get(position - 1), call)
  const below = overlaps(call, run.calls.get(position + 1))
  const selected = call !== undefined && call.callToken === callToken
  const reachable = selectedAt === null ? position === 0 : position === selectedAt
  // The present moment matters to a call that is not over.
  const movingMs = item.kind !== 'call' || isOpen(call) ? nowMs : 0
  return useMemo(() => {
    if (item.kind === 'end') return <GroupEnd group={group} />
    if (item.kind === 'head') {
      const zoom = (): void => viewer.store.set({ zoom: spanOf(group, nowMs) })
      return <GroupHead group={group} newTask={item.newTask} zoom={zoom} />
    }
    const select = (): void => {
      if (call !== undefined) void selectCall(viewer, call.callToken)
    }
    return (
      <CallRow
        {...{ call, span, selected, reachable, select }}
        nowMs={movingMs}
        parallel={{ above, below }}
      />
    )
  }, [item, call, span, movingMs, selected, reachable, above, below])
}

function isOpen(call: CallSummary | undefined): boolean {
  return call?.finishedAtMs === null || call?.segments.some(({ toMs }) => toMs === null) === true
}

/** The span of an attempt, with a little room at its ends. */
function spanOf({ startedAtMs, finishedAtMs }: CallGroup, nowMs: number): TimeSpan {
  const toMs = Math.max(finishedAtMs ?? nowMs, startedAtMs + 1)
  const room = (toMs - startedAtMs) * 0.02
  return { fromMs: startedAtMs - room, toMs: toMs + room }
}
