import type { ApprovalRow, ApprovalStore } from './approval-store.ts'
import type { Remaining } from './memory-rows.ts'

/** Approvals in this process's memory. */
export interface MemoryApprovals {
  readonly store: ApprovalStore
  /** Removes those whose calls, or all of whose run's calls, are gone. */
  prune(remaining: Remaining): void
}

export function createMemoryApprovals(assertOpen: () => void): MemoryApprovals {
  // In the order in which they were requested. People decide about them, so there are few.
  const rows = new Map<string, ApprovalRow>()

  /** The question for a call that no call has used. */
  function standingFor({ runId, callKey }: ApprovalRow): ApprovalRow | undefined {
    for (const row of rows.values()) {
      const same = row.runId === runId && row.callKey === callKey
      if (same && row.status !== 'executed') return row
    }
    return undefined
  }

  return {
    store: {
      request(row) {
        assertOpen()
        const standing = standingFor(row)
        if (standing !== undefined) return { ...standing }
        rows.set(row.id, { ...row })
        return { ...row }
      },

      update(id, expected, patch) {
        assertOpen()
        const row = rows.get(id)
        if (row?.status !== expected.status || row.usedBy !== expected.usedBy) return false
        const opens = row.status === 'executed' && (patch.status ?? 'executed') !== 'executed'
        if (opens && standingFor(row) !== undefined) return false
        rows.set(id, { ...row, ...patch })
        return true
      },

      list({ limit = 1000, ...query }) {
        assertOpen()
        const asked = Object.entries(query).filter(([, value]) => value !== undefined)
        return [...rows.values()]
          .filter((row) =>
            asked.every(([field, value]) => row[field as keyof ApprovalRow] === value),
          )
          .toReversed()
          .slice(0, limit)
          .map((row) => ({ ...row }))
      },
    },

    prune({ keptFromMs, hasRun, hasCall }) {
      for (const { id, runId, status, usedBy, ...at } of rows.values()) {
        const changedAtMs = Math.max(at.requestedAtMs, at.decidedAtMs ?? 0, at.usedAtMs ?? 0)
        const used = status === 'executed' && usedBy !== null
        if (changedAtMs < keptFromMs && (!hasRun(runId) || (used && !hasCall(usedBy)))) {
          rows.delete(id)
        }
      }
    },
  }
}
