import type { CallOutcome, CallSummary } from '../../api/calls.ts'
import { load, say, type ViewerContext } from './viewer-context.ts'
import { countOf, needCalls, openRun, positionOf, readRun } from './open-run.ts'
import { reached } from './store.ts'
import { loading, valueOf } from './viewer-state.ts'

/** Shows a call in the detail. */
export async function selectCall(context: ViewerContext, callToken: string): Promise<void> {
  const { store } = context
  const run = valueOf(store.get().run)
  const same = store.get().callToken === callToken
  store.set({
    callToken,
    position: (run && positionOf(run.calls, callToken)) ?? null,
    detailOpen: true,
    pane: 'detail',
    ...(same ? {} : { detail: loading }),
  })
  await refreshDetail(context)
}

/** Reads the shown call anew. */
export async function refreshDetail({ source, store }: ViewerContext): Promise<void> {
  const { callToken } = store.get()
  if (callToken === null) return
  const answer = await load(async () => (await source.call(callToken)).call)
  if (store.get().callToken !== callToken) return
  if (answer.state === 'failed' && valueOf(store.get().detail) !== undefined) return
  store.set({ detail: answer })
}

/** Opens the run of a call and selects it there: from the search, or from a link to another call. */
export async function goToCall(context: ViewerContext, call: CallSummary): Promise<void> {
  const { store } = context
  if (store.get().runId !== call.runId) await openRun(context, call.runId)
  store.set({ main: 'timeline' })
  const run = valueOf(store.get().run)
  const group = run?.response.groups.find(
    ({ nodeId, iteration, attempt }) =>
      nodeId === call.nodeId && iteration === call.iteration && attempt === call.attempt,
  )
  if (group !== undefined) await needCalls(context, group.first, group.first + group.count - 1)
  await selectCall(context, call.callToken)
}

/** Selects the call after the selected one, or before it. */
export async function moveSelection(context: ViewerContext, step: 1 | -1): Promise<void> {
  const { store } = context
  if (store.get().main === 'search') return moveInSearch(context, step)
  const run = await readRun(context)
  if (run === undefined) return
  const count = countOf(run)
  const { position } = store.get()
  const start = step === 1 ? -1 : count
  const next = Math.min(Math.max((position ?? start) + step, 0), count - 1)
  if (next === position || count === 0) return
  await selectPosition(context, next)
}

async function moveInSearch(context: ViewerContext, step: 1 | -1): Promise<void> {
  const { found, callToken } = context.store.get()
  const calls = valueOf(found)?.calls ?? []
  const at = calls.findIndex((call) => call.callToken === callToken)
  const next = calls[at === -1 ? 0 : at + step]
  if (next !== undefined) await selectCall(context, next.callToken)
}

/** Selects the call at a position of the timeline. */
export async function selectPosition(context: ViewerContext, position: number): Promise<void> {
  const { store } = context
  await needCalls(context, position, position)
  const call = valueOf(store.get().run)?.calls.get(position)
  if (call !== undefined) await selectCall(context, call.callToken)
}

/** Selects the next call with an outcome: of this run from the selected one on, else of the newest run that has one. */
export async function selectNext(
  context: ViewerContext,
  outcome: 'unknown' | 'failed',
): Promise<void> {
  const { store } = context
  store.set({ main: 'timeline' })
  await readRun(context)
  const { runId, position } = store.get()
  const found = await findFrom(context, outcome, (position ?? -1) + 1)
  if (found !== undefined) return selectPosition(context, found)
  // The list comes after the calls of the newest run.
  await reached(store, (state) => state.runs.state !== 'loading')
  const runs = valueOf(store.get().runs)?.runs ?? []
  const at = runs.findIndex((run) => run.runId === runId)
  const inOrder = [...runs.slice(at + 1), ...runs.slice(0, Math.max(at, 0))]
  const other = inOrder.find((run) => run.counts[outcome] > 0)
  if (other !== undefined) await openRun(context, other.runId)
  const again = await findFrom(context, outcome, 0)
  if (again === undefined) say(context, `No call with the outcome "${outcome}".`)
  else await selectPosition(context, again)
}

async function findFrom(
  context: ViewerContext,
  outcome: CallOutcome,
  from: number,
): Promise<number | undefined> {
  const groups = valueOf(context.store.get().run)?.response.groups ?? []
  for (const { first, count, counts } of groups) {
    const end = first + count
    if (end <= from || (counts[outcome] ?? 0) === 0) continue
    // oxlint-disable-next-line no-await-in-loop -- the next group matters only when this one has none
    await needCalls(context, Math.max(first, from), end - 1)
    const { calls } = valueOf(context.store.get().run) ?? { calls: new Map<number, CallSummary>() }
    for (let position = Math.max(first, from); position < end; position += 1) {
      if (calls.get(position)?.outcome === outcome) return position
    }
  }
  return undefined
}
