import type { ViewerSource } from '../source/viewer-source.ts'
import { loadApprovals } from './approvals.ts'
import { openNewestRun } from './runs.ts'
import { createStore } from './store.ts'
import { load, showClock, type ViewerContext } from './viewer-context.ts'
import { initialState } from './viewer-state.ts'
import { watchChanges } from './watch-changes.ts'

/** The state of the page and what its actions work with. */
export function createViewerContext(source: ViewerSource): ViewerContext {
  return {
    source,
    store: createStore(initialState(source.kind)),
    visible: { from: 0, to: 40 },
    seen: { version: '' },
  }
}

/** Reads everything for the first time, and then follows the log. */
export async function startViewer(context: ViewerContext, signal: AbortSignal): Promise<void> {
  // The calls are what is waited for, so they are asked for first.
  await Promise.all([openNewestRun(context), loadSession(context), loadApprovals(context)])
  if (context.store.get().session.state === 'ready') await watchChanges(context, signal)
}

async function loadSession(context: ViewerContext): Promise<void> {
  const { source, store } = context
  const session = await load(() => source.session())
  store.set({ session })
  if (session.state === 'ready' && source.kind === 'server') showClock(context, session.value.nowMs)
}
