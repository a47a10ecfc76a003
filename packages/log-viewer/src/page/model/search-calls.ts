import { load, type ViewerContext } from './viewer-context.ts'
import { loading, valueOf } from './viewer-state.ts'

/** Shows the calls that match, newest first; an empty query goes back to the timeline. */
export async function searchCalls({ source, store }: ViewerContext, query: string): Promise<void> {
  if (query.trim() === '') {
    store.set({ query, main: 'timeline' })
    return
  }
  const again = store.get().main === 'search' && valueOf(store.get().found) !== undefined
  store.set({ query, main: 'search', pane: 'main', ...(again ? {} : { found: loading }) })
  const answer = await load(() => source.search(query))
  if (store.get().query === query) store.set({ found: answer })
}

/** Reads the calls after those that were found. */
export async function searchOn({ source, store }: ViewerContext): Promise<void> {
  const { query, found } = store.get()
  const known = valueOf(found)
  if (known === undefined || known.nextCursor === null) return
  const answer = await load(() => source.search(query, known.nextCursor ?? undefined))
  if (answer.state !== 'ready' || store.get().query !== query) return
  const examined = known.examined + answer.value.examined
  store.set({
    found: {
      state: 'ready',
      value: { ...answer.value, examined, calls: [...known.calls, ...answer.value.calls] },
    },
  })
}
