import type { ApprovalRow, ApprovalStore } from './approval-store.ts'

/** Keeps approvals in this process's memory. */
export function createMemoryApprovals(assertOpen: () => void): ApprovalStore {
  // In the order in which they were requested. People decide about them, so there are few.
  const rows = new Map<string, ApprovalRow>()

  return {
    request(row) {
      assertOpen()
      for (const other of rows.values()) {
        const same = other.runId === row.runId && other.callKey === row.callKey
        if (same && other.status !== 'executed') return { ...other }
      }
      rows.set(row.id, { ...row })
      return { ...row }
    },

    update(id, expected, patch) {
      assertOpen()
      const row = rows.get(id)
      if (row?.status !== expected.status || row.usedBy !== expected.usedBy) return false
      rows.set(id, { ...row, ...patch })
      return true
    },

    list({ limit = 1000, ...query }) {
      assertOpen()
      const asked = Object.entries(query).filter(([, value]) => value !== undefined)
      return [...rows.values()]
        .filter((row) => asked.every(([field, value]) => row[field as keyof ApprovalRow] === value))
        .toReversed()
        .slice(0, limit)
        .map((row) => ({ ...row }))
    },
  }
}
