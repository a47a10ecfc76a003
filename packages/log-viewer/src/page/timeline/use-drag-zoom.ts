import { useRef, useState } from 'preact/hooks'
import type { TimeSpan } from '../model/viewer-state.ts'

/** The part that is being marked, in pixels of the element that listens. */
export interface Marked {
  readonly left: number
  readonly width: number
}

interface Drag {
  readonly lane: DOMRect
  readonly box: DOMRect
  readonly startX: number
}

export interface DragZoom {
  readonly marked: Marked | null
  readonly onPointerDown: (event: PointerEvent) => void
  readonly onPointerMove: (event: PointerEvent) => void
  readonly onPointerUp: (event: PointerEvent) => void
  readonly onClickCapture: (event: Event) => void
}

const leastPixels = 5

/** Marks a part of the axis with the mouse, and zooms to it. */
export function useDragZoom(span: TimeSpan, zoom: (span: TimeSpan) => void): DragZoom {
  const drag = useRef<Drag | null>(null)
  const dragged = useRef(false)
  const [marked, setMarked] = useState<Marked | null>(null)

  const edges = ({ lane, startX }: Drag, x: number): [number, number] => {
    const inside = (at: number): number => Math.min(Math.max(at, lane.left), lane.right)
    return [inside(Math.min(startX, x)), inside(Math.max(startX, x))]
  }

  return {
    marked,
    onPointerDown(event) {
      dragged.current = false
      if (event.button !== 0 || event.pointerType === 'touch') return
      const { target, currentTarget } = event
      const lane = target instanceof Element ? target.closest('.lane') : null
      if (lane === null || !(currentTarget instanceof Element)) return
      drag.current = {
        lane: lane.getBoundingClientRect(),
        box: currentTarget.getBoundingClientRect(),
        startX: event.clientX,
      }
    },
    onPointerMove(event) {
      const now = drag.current
      if (now === null || Math.abs(event.clientX - now.startX) < leastPixels) return
      const [left, right] = edges(now, event.clientX)
      dragged.current = true
      setMarked({ left: left - now.box.left, width: right - left })
    },
    onPointerUp(event) {
      const now = drag.current
      drag.current = null
      setMarked(null)
      if (now === null || !dragged.current) return
      const [left, right] = edges(now, event.clientX)
      const perPixel = (span.toMs - span.fromMs) / now.lane.width
      const fromMs = span.fromMs + (left - now.lane.left) * perPixel
      if (right - left >= leastPixels) zoom({ fromMs, toMs: fromMs + (right - left) * perPixel })
    },
    onClickCapture(event) {
      // The end of a drag must not select the row beneath it.
      if (dragged.current) event.stopPropagation()
      dragged.current = false
    },
  }
}
