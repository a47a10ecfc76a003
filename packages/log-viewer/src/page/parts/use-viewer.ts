import { createContext } from 'preact'
import { useContext, useLayoutEffect, useReducer, useRef } from 'preact/hooks'
import type { ViewerContext } from '../model/viewer-context.ts'
import type { ViewerState } from '../model/viewer-state.ts'

/** The viewer that the components beneath belong to. */
export const CurrentViewer: ReturnType<typeof createContext<ViewerContext | null>> =
  createContext<ViewerContext | null>(null)

export function useViewer(): ViewerContext {
  const viewer = useContext(CurrentViewer)
  if (viewer === null) throw new Error('A component is outside of its viewer.')
  return viewer
}

/** A part of the state; the component is drawn again when it changes. */
export function useSelected<Part>(select: (state: ViewerState) => Part): Part {
  const { store } = useViewer()
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0)
  const shown = useRef<Part | undefined>(undefined)
  const latest = useRef(select)
  const part = select(store.get())
  useLayoutEffect(() => {
    shown.current = part
    latest.current = select
  })
  useLayoutEffect(() => {
    const look = (): void => {
      if (!Object.is(latest.current(store.get()), shown.current)) redraw()
    }
    // What has changed since the component was drawn was said to no listener.
    look()
    return store.subscribe(look)
  }, [store])
  return part
}
