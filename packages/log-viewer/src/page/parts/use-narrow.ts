import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** Whether an element is narrower than a number of pixels, as that changes. */
export function useNarrow(element: RefObject<HTMLElement | null>, width: number): boolean {
  const [narrow, setNarrow] = useState(() => window.innerWidth < width)
  useLayoutEffect(() => {
    const watched = element.current
    if (watched === null) return undefined
    // The observer speaks before the first frame is drawn; to ask the element itself would lay the page out once more.
    const observer = new ResizeObserver(() => setNarrow(watched.clientWidth < width))
    observer.observe(watched)
    return () => observer.disconnect()
  }, [element, width])
  return narrow
}
