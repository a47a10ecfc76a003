import { archiveKey } from './archived-output.ts'
import type { Remaining } from './memory-rows.ts'
import type { RunStateEntry, RunStateStore } from './run-state-store.ts'
import type { ToolCallRow } from './tool-call-row.ts'

/** The values of runs in this process's memory. */
export interface MemoryRunState {
  readonly store: RunStateStore
  /** Removes those whose call, or all of whose run's calls, are gone. */
  prune(remaining: Remaining): void
  /** Removes the archived output of a call. */
  forgetOutputOf(row: Pick<ToolCallRow, 'runId' | 'callToken'>): void
}

export function createMemoryRunState(assertOpen: () => void): MemoryRunState {
  const runs = new Map<string, Map<string, RunStateEntry>>()

  function remove(runId: string, key: string): void {
    const values = runs.get(runId)
    values?.delete(key)
    if (values?.size === 0) runs.delete(runId)
  }

  return {
    store: {
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
    },

    prune({ keptFromMs, hasRun, hasCall, isOpen, isNamed }) {
      const entries = [...runs.values()].flatMap((values) => [...values.values()])
      for (const { runId, key, updatedAtMs } of entries) {
        const ofLostCall =
          key.startsWith(archivePrefix) && !hasCall(key.slice(archivePrefix.length))
        const isOld = updatedAtMs < keptFromMs && (ofLostCall || !hasRun(runId)) && !isOpen(runId)
        if (isOld || isNamed(runId)) remove(runId, key)
      }
    },

    forgetOutputOf: ({ runId, callToken }) => remove(runId, archiveKey(callToken)),
  }
}

const archivePrefix = archiveKey('')
