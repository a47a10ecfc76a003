import type { CallSummary, TimelineResponse } from '../../api/calls.ts'
import { failure, load, type ViewerContext } from './viewer-context.ts'
import { reached } from './store.ts'
import { loading, type OpenRun, valueOf } from './viewer-state.ts'

/** Calls are read this many at a time. */
const pageSize = 100

/** Shows the timeline of a run. */
export async function openRun(context: ViewerContext, runId: string): Promise<void> {
  const { source, store, visible } = context
  store.set({
    runId,
    run: loading,
    main: 'timeline',
    callToken: null,
    position: null,
    detailOpen: false,
    zoom: null,
    follow: false,
  })
  visible.from = 0
  visible.to = 40
  const answer = await load(async () => opened(await source.timeline(runId, pageSize)))
  if (store.get().runId !== runId) return
  if (answer.state !== 'ready') store.set({ run: answer })
  else if (answer.value !== undefined) store.set({ run: { state: 'ready', value: answer.value } })
}

/** Shows the run with the newest call, unless another was opened meanwhile. One question to the log, since it is the first. */
export async function openNewest({ source, store }: ViewerContext): Promise<void> {
  const answer = await load(async () => opened(await source.timeline(undefined, pageSize)))
  const run = valueOf(answer)
  if (run === undefined || store.get().runId !== null) return
  store.set({ runId: run.response.run.runId, run: { state: 'ready', value: run } })
}

function opened({ run, calls }: TimelineResponse): OpenRun | undefined {
  if (run === null || calls === null) return undefined
  return { response: run, calls: numbered(calls.from, calls.calls) }
}

const requested = new Set<string>()

/** Reads the calls of these positions that are not here yet. */
export async function needCalls(context: ViewerContext, from: number, to: number): Promise<void> {
  const { source, store } = context
  const { runId } = store.get()
  const run = valueOf(store.get().run)
  if (runId === null || run === undefined) return
  await Promise.all(
    missingPages(run, from, to).map(async (page) => {
      const request = `${run.response.version} ${page} ${runId}`
      if (requested.has(request)) return
      requested.add(request)
      try {
        const answer = await source.calls(runId, page, pageSize)
        const now = valueOf(store.get().run)
        if (store.get().runId !== runId || now === undefined) return
        const calls = new Map([...now.calls, ...numbered(answer.from, answer.calls)])
        store.set({ run: { state: 'ready', value: { ...now, calls } } })
      } catch (error) {
        if (store.get().runId === runId) store.set({ run: failure(error) })
      } finally {
        requested.delete(request)
      }
    }),
  )
}

/** Reads anew what is on the screen of the open run; other pages are read again when they are scrolled to. */
export async function refreshRun({ source, store, visible }: ViewerContext): Promise<void> {
  const { runId, position } = store.get()
  if (runId === null) return
  const pages = new Set(pagesOf(visible.from, visible.to))
  if (position !== null) pages.add(pageOf(position))
  const answer = await load(async () => {
    const [response, ...read] = await Promise.all([
      source.run(runId),
      ...[...pages].map((page) => source.calls(runId, page, pageSize)),
    ])
    return {
      response,
      calls: new Map(read.flatMap((page) => [...numbered(page.from, page.calls)])),
    }
  })
  if (answer.state !== 'ready' || store.get().runId !== runId) return
  const { callToken } = store.get()
  const { calls } = answer.value
  store.set({
    run: answer,
    position: callToken === null ? null : (positionOf(calls, callToken) ?? position),
  })
}

/** The open run once it has been read: a key that is pressed earlier counts, too. Undefined when there is none. */
export async function readRun({ store }: ViewerContext): Promise<OpenRun | undefined> {
  await reached(
    store,
    ({ run, runs, runId }) =>
      run.state !== 'loading' || (runs.state !== 'loading' && runId === null),
  )
  return valueOf(store.get().run)
}

/** Where a call is in the timeline, if it has been read. */
export function positionOf(
  calls: ReadonlyMap<number, CallSummary>,
  callToken: string,
): number | undefined {
  for (const [position, call] of calls) if (call.callToken === callToken) return position
  return undefined
}

/** How many calls the timeline of a run has. */
export function countOf({ response }: OpenRun): number {
  return response.groups.reduce((sum, group) => sum + group.count, 0)
}

function missingPages(run: OpenRun, from: number, to: number): number[] {
  const last = Math.min(to, countOf(run) - 1)
  return pagesOf(from, last).filter((page) => {
    const end = Math.min(page + pageSize - 1, last)
    return !run.calls.has(Math.max(page, from)) || !run.calls.has(end)
  })
}

function pagesOf(from: number, to: number): number[] {
  const pages: number[] = []
  for (let page = pageOf(Math.max(0, from)); page <= to; page += pageSize) pages.push(page)
  return pages
}

function pageOf(position: number): number {
  return Math.floor(position / pageSize) * pageSize
}

function numbered(from: number, calls: readonly CallSummary[]): Map<number, CallSummary> {
  return new Map(calls.map((call, index) => [from + index, call]))
}
