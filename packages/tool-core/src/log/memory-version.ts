/**
 * A store whose every method counts as a change, but for those that are named: reads. A method that is added later counts,
 * so that no change goes unseen.
 */
export function countingChanges<Store extends object>(
  store: Store,
  reads: readonly (keyof Store)[],
  changed: () => void,
): Store {
  const counting: Store = { ...store }
  for (const name of Object.keys(store) as (keyof Store)[]) {
    const method = store[name]
    if (typeof method !== 'function' || reads.includes(name)) continue
    counting[name] = ((...args: unknown[]) => {
      changed()
      return method.apply(store, args) as unknown
    }) as Store[typeof name]
  }
  return counting
}
