import { type ApprovalRow, type ApprovalStore, isOpenApproval } from './approval-store.ts'
import type { Remaining } from './memory-rows.ts'

/** Approvals in this process's memory. */
export interface MemoryApprovals {
  readonly store: ApprovalStore
  /** The runs with an approval that is pending, or approved and not used. */
  waitingRuns(isUsed: (approvalId: string) => boolean): Set<string>
  /** Removes those whose calls, or all of whose run's calls, are gone. */
  prune(remaining: Remaining): void
}

// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createMemoryApprovals(assertOpen: () => void): MemoryApprovals {
  // In the order in which they were requested. People decide about them, so there are few.
  const rows = new Map<string, ApprovalRow>()

  function ofCall({ runId, callKey }: ApprovalRow): ApprovalRow[] {
    return [...rows.values()].filter((row) => row.runId === runId && row.callKey === callKey)
  }

  function openFor(wanted: ApprovalRow): ApprovalRow | undefined {
    return ofCall(wanted).find((row) => row.inputHash === wanted.inputHash && isOpenApproval(row))
  }

  return {
    store: {
      request(row) {
        assertOpen()
        for (const other of ofCall(row)) {
          const undone = other.status === 'pending' || other.status === 'approved'
          if (other.inputHash !== row.inputHash && undone) {
            rows.set(other.id, { ...other, ...superseded })
          }
        }
        const open = openFor(row)
        if (open !== undefined) return { ...open }
        rows.set(row.id, { ...row })
        return { ...row }
      },

      update(id, expected, patch) {
        assertOpen()
        const row = rows.get(id)
        if (row?.status !== expected) return false
        const changed = { ...row, ...patch }
        const reopens = !isOpenApproval(row) && isOpenApproval(changed)
        if (reopens && openFor(row) !== undefined) return false
        rows.set(id, changed)
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

    waitingRuns(isUsed) {
      const nowMs = Date.now()
      const waiting = [...rows.values()].filter(({ id, status, expiresAtMs }) =>
        status === 'pending'
          ? (expiresAtMs ?? Infinity) > nowMs
          : status === 'approved' && !isUsed(id),
      )
      return new Set(waiting.map(({ runId }) => runId))
    },

    prune({ keptFromMs, hasRun, hasCallWith, isOpen, isNamed }) {
      for (const { id, runId, status, requestedAtMs, decidedAtMs } of rows.values()) {
        const changedAtMs = Math.max(requestedAtMs, decidedAtMs ?? 0)
        const isGone = !hasRun(runId) || (status === 'used' && !hasCallWith(id))
        const isOld = changedAtMs < keptFromMs && isGone && !isOpen(runId)
        if (isOld || isNamed(runId)) rows.delete(id)
      }
    },
  }
}

const superseded: Pick<ApprovalRow, 'status' | 'approvedArgsJson' | 'previewJson'> = {
  status: 'superseded',
  approvedArgsJson: null,
  previewJson: null,
}
