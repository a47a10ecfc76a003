import { loadApprovals } from './approvals.ts'
import { countOf, needCalls, refreshRun } from './open-run.ts'
import { loadRuns } from './runs.ts'
import { refreshDetail, selectPosition } from './select-call.ts'
import { showClock, type ViewerContext } from './viewer-context.ts'
import { valueOf } from './viewer-state.ts'

const retryMs = 2000

/** Keeps the page as the log is, until the signal ends it. */
export async function watchChanges(context: ViewerContext, signal: AbortSignal): Promise<void> {
  const { source, store, seen } = context
  if (source.kind === 'file') return
  while (!signal.aborted) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one question at a time
      const { version, changed, nowMs } = await source.changes(seen.version, signal)
      store.set({ connection: 'live' })
      showClock(context, nowMs)
      if (!changed && version === seen.version) continue
      seen.version = version
      // oxlint-disable-next-line no-await-in-loop -- the next change is asked for when this one is shown
      await refresh(context)
    } catch {
      if (signal.aborted) return
      store.set({ connection: 'lost' })
      // oxlint-disable-next-line no-await-in-loop -- waits before it asks again
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}

async function refresh(context: ViewerContext): Promise<void> {
  await Promise.all([
    loadRuns(context),
    refreshRun(context),
    refreshDetail(context),
    loadApprovals(context),
  ])
  if (context.store.get().follow) await selectNewest(context)
}

/** Selects the call that started last. */
export async function selectNewest(context: ViewerContext): Promise<void> {
  const run = valueOf(context.store.get().run)
  if (run === undefined) return
  const last = countOf(run) - 1
  const newest = run.response.groups.reduce(
    (latest, group) => (group.startedAtMs >= latest.startedAtMs ? group : latest),
    run.response.groups[0] ?? { startedAtMs: 0, first: last, count: 1 },
  )
  const position = newest.first + newest.count - 1
  await needCalls(context, position, position)
  const before = context.store.get().pane
  await selectPosition(context, position)
  // Following never takes a narrow window away from the timeline.
  context.store.set({ pane: before })
}
