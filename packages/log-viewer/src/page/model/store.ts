/** What the page shows. Its listeners draw it again when it changes. */
export interface Store<State> {
  get(): State
  /** Changes some fields, and tells listeners when one differs. */
  set(change: Partial<State>): void
  /** @returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void
}

export function createStore<State extends object>(initial: State): Store<State> {
  let state = initial
  const listeners = new Set<() => void>()
  return {
    get: () => state,
    set(change) {
      const differs = (Object.keys(change) as (keyof State)[]).some(
        (field) => !Object.is(change[field], state[field]),
      )
      if (!differs) return
      state = { ...state, ...change }
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Resolves once the state meets a condition. */
export async function reached<State>(
  store: Store<State>,
  condition: (state: State) => boolean,
): Promise<void> {
  if (condition(store.get())) return
  await new Promise<void>((resolve) => {
    const end = store.subscribe(() => {
      if (!condition(store.get())) return
      end()
      resolve()
    })
  })
}
