import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { keyActions } from './keyboard.ts'
import { Icon } from '../parts/icons.tsx'
import { useSelected, useViewer } from '../parts/use-viewer.ts'

const filters: readonly (readonly [string, string])[] = [
  ['tool:charge', 'calls of a tool; -tool:read leaves one out'],
  ['is:unknown', 'any outcome: ok, failed, refused, running, waiting, replayed, cached, fenced'],
  ['effect:applied', 'what it did outside: none, applied, unknown'],
  ['task:pay  run:ID', 'of one task or one run'],
  ['code:TOOL_TIMEOUT', 'by the code of the error'],
  ['key:…  trace:…', 'by idempotency key or trace'],
  ['after:2h  slower:2s', 'by time and by duration'],
]

/** The keys, and what the search understands. */
export function Help(): VNode | null {
  const { store } = useViewer()
  const open = useSelected((state) => state.helpOpen)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (open) dialog.current?.showModal()
  }, [open])
  if (!open) return null
  const close = (): void => store.set({ helpOpen: false })
  return (
    <dialog ref={dialog} class="help" aria-label="Keys and search" onClose={close}>
      <div class="help-head">
        <h2>Keys</h2>
        <button type="button" class="button quiet" aria-label="Close the help" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      <dl class="keys">
        {keyActions.map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <h2>Search</h2>
      <dl class="filters">
        {filters.map(([filter, finds]) => (
          <div key={filter}>
            <dt>
              <code>{filter}</code>
            </dt>
            <dd>{finds}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  )
}
