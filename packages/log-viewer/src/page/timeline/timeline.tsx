import type { RefObject, VNode } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { needCalls } from '../model/open-run.ts'
import type { OpenRun, TimeSpan } from '../model/viewer-state.ts'
import { Empty } from '../parts/states.tsx'
import { useSelected, useViewer } from '../parts/use-viewer.ts'
import { useNarrow } from '../parts/use-narrow.ts'
import { useNow } from '../parts/use-now.ts'
import { AxisHead } from './axis-head.tsx'
import { gridOf, ticksOf } from './time-axis.ts'
import { type TimelineItem, timelineItems } from './timeline-items.ts'
import { TimelineLine } from './timeline-line.tsx'
import { useDragZoom } from './use-drag-zoom.ts'
import { type ListWindow, useWindow } from './use-window.ts'

const narrowWidth = 560

/** The calls of a run on one axis. */
export function Timeline({ run }: { run: OpenRun }): VNode {
  if (run.response.groups.length > 0) return <Lines run={run} />
  return (
    <Empty title="No calls yet">
      <p>This run has made no tool call. The first one appears here as it starts.</p>
    </Empty>
  )
}

/** Only what is on the screen is drawn. */
function Lines({ run }: { run: OpenRun }): VNode {
  const { store } = useViewer()
  const zoom = useSelected((state) => state.zoom)
  const callToken = useSelected((state) => state.callToken)
  const selectedAt = useSelected((state) => state.position)
  const { span, nowMs } = useAxis(run, zoom)
  const ticks = ticksOf(span, run.response.fromMs)
  const scroller = useRef<HTMLDivElement>(null)
  const narrow = useNarrow(scroller, narrowWidth)
  const { items, list } = useVisibleItems(run, scroller, narrow)
  const { marked, ...dragEvents } = useDragZoom(span, (part) => store.set({ zoom: part }))
  return (
    <div
      class="timeline"
      data-narrow={narrow ? '' : undefined}
      style={{ '--grid': gridOf(ticks) }}
      {...dragEvents}
    >
      <AxisHead ticks={ticks} zoomed={zoom !== null} reset={() => store.set({ zoom: null })} />
      <div class="scroll" ref={scroller}>
        <div class="rows" style={{ height: `${list.totalSize}px` }}>
          {list.rows.map(({ index, start, size }) => {
            const item = items[index]
            return (
              <div
                key={index}
                class="row"
                style={{ transform: `translateY(${start}px)`, height: `${size}px` }}
              >
                {item !== undefined && (
                  <TimelineLine {...{ item, run, span, nowMs, callToken, selectedAt }} />
                )}
              </div>
            )
          })}
        </div>
      </div>
      {marked !== null && (
        <div class="marked" style={{ left: `${marked.left}px`, width: `${marked.width}px` }} />
      )}
    </div>
  )
}

/** What the axis shows, and the present moment by the clock of the server. */
function useAxis({ response }: OpenRun, zoom: TimeSpan | null): { span: TimeSpan; nowMs: number } {
  const isRunning = response.run.counts.running > 0 || response.run.counts.waits > 0
  const nowMs = useNow(isRunning ? 500 : null) + useSelected((state) => state.clockOffsetMs)
  const { fromMs } = response
  const toMs = Math.max(isRunning ? nowMs : response.toMs, response.toMs, fromMs + 1)
  // The same object while it says the same: a line is drawn again when its span is another one.
  const span = useMemo(() => zoom ?? { fromMs, toMs }, [zoom, fromMs, toMs])
  return { span, nowMs }
}

/** The lines of the run and those on the screen; reads the calls that those need. */
function useVisibleItems(
  run: OpenRun,
  scroller: RefObject<HTMLElement | null>,
  narrow: boolean,
): { items: readonly TimelineItem[]; list: ListWindow } {
  const viewer = useViewer()
  const callToken = useSelected((state) => state.callToken)
  const position = useSelected((state) => state.position)
  const { groups } = run.response
  const items = useMemo(() => timelineItems(groups), [groups])
  const sizes = useMemo(() => items.map((item) => heightOf(item, narrow)), [items, narrow])
  const list = useWindow(sizes, scroller)
  const positions = list.rows.flatMap(({ index }) => {
    const item = items[index]
    return item?.kind === 'call' ? [item.position] : []
  })
  const from = positions[0] ?? 0
  const to = positions.at(-1) ?? 0
  useEffect(() => {
    Object.assign(viewer.visible, { from, to })
    void needCalls(viewer, from, to)
  }, [viewer, from, to, run])
  useEffect(() => {
    const index = items.findIndex((item) => item.kind === 'call' && item.position === position)
    if (index !== -1) list.scrollTo(index)
    // Only a new selection scrolls; a call that moves down because another came in does not.
  }, [callToken])
  return { items, list }
}

function heightOf(item: TimelineItem, narrow: boolean): number {
  if (item.kind === 'head') return 38
  if (item.kind === 'end') return 34
  return narrow ? 58 : 32
}
