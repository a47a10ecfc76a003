import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks'

/** A row of a list that is drawn. Pixels from the top of the list. */
export interface WindowRow {
  readonly index: number
  readonly start: number
  readonly size: number
}

/** The rows of a long list that are on the screen, a few more, and a way to scroll to one. */
export interface ListWindow {
  readonly rows: readonly WindowRow[]
  readonly totalSize: number
  scrollTo(index: number): void
}

/** Rows that are drawn before and after those on the screen. */
const overscan = 6

/**
 * Draws only the visible part of a list whose rows have known heights.
 *
 * @param sizes The height of each row in pixels. Another array is another list.
 */
export function useWindow(
  sizes: readonly number[],
  scroller: RefObject<HTMLElement | null>,
): ListWindow {
  const [, redraw] = useReducer<number, void>((times) => times + 1, 0)
  const starts = useMemo(() => startsOf(sizes), [sizes])
  // Before the list has been laid out: what the whole page could hold. Asking for more would lay it out twice.
  const seen = useRef({ top: 0, height: window.innerHeight })
  const drawn = useRef({ from: 0, to: 0 })
  drawn.current = rangeOf(starts, seen.current)

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const look = (): void => {
      seen.current = { top: element.scrollTop, height: element.clientHeight }
      const { from, to } = rangeOf(starts, seen.current)
      if (from !== drawn.current.from || to !== drawn.current.to) redraw()
    }
    // Tells the height at once, too, when the browser knows it.
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [starts, scroller])

  const { from, to } = drawn.current
  return {
    rows: sizes
      .slice(from, to)
      .map((size, at) => ({ index: from + at, start: starts[from + at] ?? 0, size })),
    totalSize: starts.at(-1) ?? 0,
    scrollTo(index) {
      const element = scroller.current
      const top = starts[index]
      const bottom = starts[index + 1]
      if (element === null || top === undefined || bottom === undefined) return
      if (top < element.scrollTop) element.scrollTop = top
      else if (bottom > element.scrollTop + element.clientHeight) {
        element.scrollTop = bottom - element.clientHeight
      }
    },
  }
}

/** Where each row starts, and last the end of the list. */
function startsOf(sizes: readonly number[]): readonly number[] {
  const starts = [0]
  for (const [index, size] of sizes.entries()) starts.push((starts[index] ?? 0) + size)
  return starts
}

/** The rows from `from` up to `to` that a part of the list shows, with some more around them. */
function rangeOf(
  starts: readonly number[],
  { top, height }: { readonly top: number; readonly height: number },
): { readonly from: number; readonly to: number } {
  const last = starts.length - 1
  return {
    from: Math.max(0, rowAt(starts, top) - overscan),
    to: Math.min(last, rowAt(starts, top + height) + 1 + overscan),
  }
}

/** The row at a distance from the top. */
function rowAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}
