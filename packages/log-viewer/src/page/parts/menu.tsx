import type { RefObject, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

export interface MenuItem {
  readonly label: string
  readonly hint?: string
  readonly choose: () => void
}

interface MenuProps {
  readonly label: string
  readonly icon: IconName
  readonly items: readonly MenuItem[]
  /** Opens it from elsewhere, such as a key. */
  readonly opener?: string
}

/** A button that opens a short list of actions. */
export function Menu({ label, icon, items, opener }: MenuProps): VNode {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)

  useFocusInside(open, root, () => setOpen(false))
  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }

  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class="button"
        aria-haspopup="menu"
        aria-expanded={open}
        data-opener={opener}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} />
        <span>{label}</span>
        <Icon name="chevron" />
      </button>
      {open && (
        <div
          class="menu-items"
          role="menu"
          aria-label={label}
          onKeyDown={(event) => move(event, close)}
        >
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close()
                item.choose()
              }}
            >
              <span>{item.label}</span>
              {item.hint !== undefined && <small>{item.hint}</small>}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

/** Focuses the first item of an open menu, and closes it when the reader clicks elsewhere. */
function useFocusInside(
  open: boolean,
  root: RefObject<HTMLElement | null>,
  close: () => void,
): void {
  useEffect(() => {
    if (!open) return undefined
    root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus()
    const outside = (event: Event): void => {
      if (!(event.target instanceof Node && root.current?.contains(event.target))) close()
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])
}

/** Moves between the items with arrows, `j` and `k`; Escape closes. */
function move(event: KeyboardEvent, close: () => void): void {
  const { currentTarget, key } = event
  if (!(currentTarget instanceof HTMLElement)) return
  const all = [...currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')]
  const at = all.findIndex((item) => item === document.activeElement)
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[key]
  if (key === 'Escape') close()
  else if (step === undefined) return
  else all[(at + step + all.length) % all.length]?.focus()
  event.preventDefault()
  event.stopPropagation()
}
