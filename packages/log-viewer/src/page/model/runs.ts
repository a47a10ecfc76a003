import { load, type ViewerContext } from './viewer-context.ts'
import { openNewest, openRun } from './open-run.ts'
import { valueOf } from './viewer-state.ts'

/** Opens the newest run, and reads the list, which takes longer, once the run is on the screen. */
export async function openNewestRun(context: ViewerContext): Promise<void> {
  await openNewest(context)
  await nextFrame()
  await loadRuns(context)
}

/** Resolves when the next frame has been drawn; soon, too, in a window that is hidden and draws none. */
async function nextFrame(): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, 100)
    requestAnimationFrame(() => setTimeout(resolve))
  })
}

/** Reads the newest runs, and opens the first when none is open. */
export async function loadRuns(context: ViewerContext): Promise<void> {
  const { source, store, seen } = context
  const answer = await load(() => source.runs())
  if (answer.state !== 'ready') {
    // A list that was read before stays: what it says is still better than an error.
    if (valueOf(store.get().runs) === undefined && answer.state === 'failed') {
      store.set({ runs: answer })
    }
    return
  }
  const { runs, nextCursor, version } = answer.value
  seen.version ||= version
  const known = valueOf(store.get().runs)
  const older =
    known === undefined || known.runs.length <= runs.length
      ? []
      : known.runs.filter((run) => !runs.some(({ runId }) => runId === run.runId))
  store.set({
    runs: {
      state: 'ready',
      value: {
        runs: [...runs, ...older],
        nextCursor: older.length === 0 ? nextCursor : (known?.nextCursor ?? null),
      },
    },
  })
  const [newest] = runs
  if (store.get().runId === null && newest !== undefined) await openRun(context, newest.runId)
}

/** Reads older runs. */
export async function loadOlderRuns({ source, store }: ViewerContext): Promise<void> {
  const known = valueOf(store.get().runs)
  if (known?.nextCursor === null || known === undefined) return
  const answer = await load(() => source.runs(known.nextCursor ?? undefined))
  if (answer.state !== 'ready') return
  const { runs, nextCursor } = answer.value
  const fresh = runs.filter((run) => !known.runs.some(({ runId }) => runId === run.runId))
  store.set({ runs: { state: 'ready', value: { runs: [...known.runs, ...fresh], nextCursor } } })
}
