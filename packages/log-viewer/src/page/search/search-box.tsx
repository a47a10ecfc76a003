import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { searchCalls } from '../model/search-calls.ts'
import { Icon } from '../parts/icons.tsx'
import { useSelected, useViewer } from '../parts/use-viewer.ts'

const typingPauseMs = 180

/** Searches while the reader types. */
export function SearchBox(): VNode {
  const viewer = useViewer()
  const query = useSelected((state) => state.query)
  const [typed, setTyped] = useState(query)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asked = useRef(query)
  // Only what others ask replaces the text: a search that is behind must not take back what was typed since.
  useEffect(() => {
    if (query === asked.current) return
    asked.current = query
    setTyped(query)
  }, [query])

  const search = (text: string, pauseMs: number): void => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      asked.current = text
      void searchCalls(viewer, text)
    }, pauseMs)
  }
  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        type="search"
        id="search"
        aria-label="Search all calls"
        placeholder="Search all calls: text, tool:charge, is:unknown, slower:2s"
        autocomplete="off"
        spellcheck={false}
        maxLength={1000}
        value={typed}
        onInput={(event) => search(event.currentTarget.value, typingPauseMs)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') search(event.currentTarget.value, 0)
          if (event.key !== 'Escape' && event.key !== 'Enter') return
          if (event.key === 'Escape') search('', 0)
          event.preventDefault()
          event.stopPropagation()
          event.currentTarget.blur()
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  )
}
