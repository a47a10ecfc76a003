import { moveApproval, openApprovals } from '../model/approvals.ts'
import { searchCalls } from '../model/search-calls.ts'
import { goToCall, moveSelection, selectNext } from '../model/select-call.ts'
import type { ViewerContext } from '../model/viewer-context.ts'
import { valueOf } from '../model/viewer-state.ts'

/** A key and what it does. */
export interface KeyAction {
  readonly keys: string
  readonly does: string
}

/** The keys in the order in which the help lists them. */
export const keyActions: readonly KeyAction[] = [
  { keys: 'j', does: 'next call' },
  { keys: 'k', does: 'call before' },
  { keys: 'u', does: 'next call whose outcome is unknown' },
  { keys: 'f', does: 'next failed call' },
  { keys: '/', does: 'search' },
  { keys: 'Enter', does: 'show a found call in its run' },
  { keys: 'a', does: 'approvals' },
  { keys: 'c', does: 'copy the call' },
  { keys: '0', does: 'the whole run on the axis' },
  { keys: 'Esc', does: 'back' },
  { keys: '?', does: 'these keys' },
]

/** Reacts to keys anywhere on the page, but not while the reader types. */
export function onKey(viewer: ViewerContext, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  const { target } = event
  if (target instanceof HTMLElement && isTyping(target)) return
  const act = actionOf(viewer, event.key)
  if (act === undefined) return
  event.preventDefault()
  act()
}

function isTyping(element: HTMLElement): boolean {
  if (element.isContentEditable || element.tagName === 'TEXTAREA') return true
  return element instanceof HTMLInputElement || element.tagName === 'SELECT'
}

function actionOf(viewer: ViewerContext, key: string): (() => unknown) | undefined {
  const { store } = viewer
  const { helpOpen, main } = store.get()
  if (helpOpen) {
    return key === 'Escape' || key === '?' ? () => store.set({ helpOpen: false }) : undefined
  }
  switch (key) {
    case 'j':
    case 'k': {
      const step = key === 'j' ? 1 : -1
      return () => (main === 'approvals' ? moveApproval(viewer, step) : moveSelection(viewer, step))
    }
    case 'u':
      return () => selectNext(viewer, 'unknown')
    case 'f':
      return () => selectNext(viewer, 'failed')
    case '/':
      return () => document.querySelector<HTMLInputElement>('#search')?.select()
    case 'a':
      return () => openApprovals(viewer)
    case 'c':
      return () => document.querySelector<HTMLElement>('[data-opener=copy]')?.click()
    case '0':
      return () => store.set({ zoom: null })
    case '?':
      return () => store.set({ helpOpen: true })
    case 'Enter':
      return main === 'search' ? enterOf(viewer) : undefined
    case 'Escape':
      return () => goBack(viewer)
    default:
      return undefined
  }
}

/** Enter on a button presses the button; elsewhere it opens the selected hit. */
function enterOf(viewer: ViewerContext): (() => unknown) | undefined {
  const { callToken, found } = viewer.store.get()
  const active = document.activeElement
  if (active instanceof HTMLElement && active.dataset['token'] !== callToken) {
    if (active.tagName === 'BUTTON' || active.tagName === 'A') return undefined
  }
  const call = valueOf(found)?.calls.find((hit) => hit.callToken === callToken)
  return call && (() => goToCall(viewer, call))
}

function goBack(viewer: ViewerContext): void {
  const { store } = viewer
  const { pane, main, detailOpen } = store.get()
  if (detailOpen) store.set({ detailOpen: false, pane: 'main' })
  else if (main === 'search') void searchCalls(viewer, '')
  else if (main === 'approvals') store.set({ main: 'timeline' })
  else if (pane === 'main') store.set({ pane: 'runs' })
}
