import type { RunStateEntry, RunStateStore } from './run-state-store.ts'

/** Keeps the values of runs in this process's memory. */
export function createMemoryRunState(assertOpen: () => void): RunStateStore {
  const runs = new Map<string, Map<string, RunStateEntry>>()

  return {
    get(runId, key) {
      assertOpen()
      const entry = runs.get(runId)?.get(key)
      return entry === undefined ? undefined : { ...entry }
    },

    set(entry) {
      assertOpen()
      const { runId, key, version } = entry
      const values = runs.get(runId) ?? new Map<string, RunStateEntry>()
      if (version !== (values.get(key)?.version ?? 0) + 1) return false
      runs.set(runId, values.set(key, { ...entry }))
      return true
    },
  }
}
