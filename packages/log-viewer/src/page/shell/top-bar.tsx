import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { openApprovals } from '../model/approvals.ts'
import { valueOf } from '../model/viewer-state.ts'
import { SearchBox } from '../search/search-box.tsx'
import { visibleLine } from '../text/visible-text.ts'
import { Icon, type IconName } from '../parts/icons.tsx'
import { chooseTheme, nextTheme, storedTheme, type Theme } from './theme.ts'
import { useSelected, useViewer } from '../parts/use-viewer.ts'

/** The head of the page: which log, search, approvals, and how the page looks. */
export function TopBar(): VNode {
  const viewer = useViewer()
  const session = valueOf(useSelected((state) => state.session))
  const connection = useSelected((state) => state.connection)
  return (
    <header class="top">
      <div class="brand">
        <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
          <path class="brand-mark" d="M2 4.5h7M5 8h9M3 11.5h6" />
        </svg>
        <h1 class="brand-name">Smithers</h1>
        {session !== undefined && (
          <span class="log-title faint" title={visibleLine(session.title)}>
            {visibleLine(session.title)}
          </span>
        )}
      </div>
      <SearchBox />
      <div class="tools">
        <Connection connection={connection} />
        <ApprovalsButton />
        <ThemeSwitch />
        <button
          type="button"
          class="button quiet"
          aria-label="Keys and help"
          onClick={() => viewer.store.set({ helpOpen: true })}
        >
          <Icon name="help" />
        </button>
      </div>
    </header>
  )
}

const connections = {
  live: { text: 'Live', title: 'The page follows the log' },
  lost: { text: 'Not connected', title: 'The viewer does not answer; the page asks again' },
  file: { text: 'Exported', title: 'A copy of one run' },
} as const

function Connection({ connection }: { connection: keyof typeof connections }): VNode {
  const { text, title } = connections[connection]
  return (
    <span class="connection" data-state={connection} title={title}>
      {text}
    </span>
  )
}

function ApprovalsButton(): VNode {
  const viewer = useViewer()
  const count = valueOf(useSelected((state) => state.approvals))?.length ?? 0
  const main = useSelected((state) => state.main)
  return (
    <button
      type="button"
      class="button quiet"
      aria-pressed={main === 'approvals'}
      onClick={() => openApprovals(viewer)}
    >
      <Icon name="inbox" />
      <span>Approvals</span>
      {count > 0 && <b class="count">{count}</b>}
    </button>
  )
}

const themeIcons: Readonly<Record<Theme, IconName>> = {
  system: 'system',
  light: 'sun',
  dark: 'moon',
}

function ThemeSwitch(): VNode {
  const [theme, setTheme] = useState(storedTheme)
  const next = nextTheme(theme)
  return (
    <button
      type="button"
      class="button quiet"
      aria-label={`Colours: ${theme}. Change to ${next}`}
      title={`Colours: ${theme}`}
      onClick={() => {
        chooseTheme(next)
        setTheme(next)
      }}
    >
      <Icon name={themeIcons[theme]} />
    </button>
  )
}
