import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { ApprovalsInbox } from '../approvals/approvals-inbox.tsx'
import { DetailPane } from '../detail/detail-pane.tsx'
import type { ViewerContext } from '../model/viewer-context.ts'
import { RunsPane } from '../runs/runs-pane.tsx'
import { SearchResults } from '../search/search-results.tsx'
import { RunHead } from '../timeline/run-head.tsx'
import { Timeline } from '../timeline/timeline.tsx'
import { ValueBoundary } from '../value/value-boundary.tsx'
import { Help } from './help.tsx'
import { Icon } from '../parts/icons.tsx'
import { onKey } from './keyboard.ts'
import { Empty, Loaded } from '../parts/states.tsx'
import { TopBar } from './top-bar.tsx'
import { CurrentViewer, useSelected, useViewer } from '../parts/use-viewer.ts'

/** The whole page. */
export function App({ viewer }: { viewer: ViewerContext }): VNode {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => onKey(viewer, event)
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [viewer])
  return (
    <CurrentViewer.Provider value={viewer}>
      <Frame />
    </CurrentViewer.Provider>
  )
}

function Frame(): VNode {
  const pane = useSelected((state) => state.pane)
  const session = useSelected((state) => state.session)
  if (session.state === 'failed') {
    return (
      <main class="alone">
        <h1 class="sr-only">Smithers</h1>
        <Loaded from={session}>{() => null}</Loaded>
      </main>
    )
  }
  return (
    <div class="app" data-pane={pane}>
      <TopBar />
      <main class="panes">
        <RunsPane />
        <MainPane />
        <DetailPane />
      </main>
      <Help />
      <Notice />
    </div>
  )
}

function MainPane(): VNode {
  const { store } = useViewer()
  const main = useSelected((state) => state.main)
  return (
    <div class="pane main">
      <button
        type="button"
        class="button quiet to-runs"
        onClick={() => store.set({ pane: 'runs' })}
      >
        <Icon name="back" />
        <span>Runs</span>
      </button>
      <ValueBoundary key={main} what="This part of the page">
        {main === 'timeline' && <OpenTimeline />}
        {main === 'search' && <SearchResults />}
        {main === 'approvals' && <ApprovalsInbox />}
      </ValueBoundary>
    </div>
  )
}

function OpenTimeline(): VNode {
  const runId = useSelected((state) => state.runId)
  const run = useSelected((state) => state.run)
  const runs = useSelected((state) => state.runs)
  if (runId === null && runs.state === 'ready') {
    return (
      <Empty title="Nothing has run yet">
        <p>Leave this page open: the first tool call appears here as it starts.</p>
      </Empty>
    )
  }
  return (
    <Loaded from={run} lines={14}>
      {(open) => (
        <section class="run-view" aria-label="Calls of the run" key={runId ?? ''}>
          <RunHead response={open.response} />
          <Timeline run={open} />
        </section>
      )}
    </Loaded>
  )
}

const noticeMs = 2500

function Notice(): VNode {
  const { store } = useViewer()
  const notice = useSelected((state) => state.notice)
  useEffect(() => {
    if (notice === null) return undefined
    const timer = setTimeout(() => store.set({ notice: null }), noticeMs)
    return () => clearTimeout(timer)
  }, [notice, store])
  return (
    <div class="notice" role="status" data-shown={notice === null ? undefined : ''}>
      {notice?.text}
    </div>
  )
}
