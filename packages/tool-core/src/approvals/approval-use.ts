import { setTimeout as sleep } from 'node:timers/promises'
import { isOrphan } from '../log/orphan.ts'
import { currentOwnerId, isOwnerGone } from '../log/process-owner.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'

/** What became of the call that used an approval. */
export type ApprovalUse =
  /** It never started, or certainly did nothing: the approval still stands. */
  | { readonly kind: 'unspent' }
  /** It is running, or about to. */
  | { readonly kind: 'running' }
  /** It ran: another execution is another question. */
  | { readonly kind: 'spent'; readonly outcome: string }

/**
 * Finds out whether an approval was really used. It is marked before the call starts, and the start is recorded before
 * the tool runs, so a mark without a row means that the process ended in between.
 */
export async function useOf(
  log: ToolCallLog,
  approval: ApprovalRow,
  graceMs: number,
): Promise<ApprovalUse> {
  const { usedBy, usedByOwner, usedAtMs } = approval
  const nowMs = Date.now()
  // Asked before the log is: a process that ends in between may have started the call until then.
  const gone = usedByOwner !== null && isOwnerGone(usedByOwner)
  const [row] = usedBy === null ? [] : await log.list({ callToken: usedBy, limit: 1 })
  if (row === undefined) {
    return gone || nowMs >= (usedAtMs ?? 0) + graceMs ? { kind: 'unspent' } : { kind: 'running' }
  }
  if (row.status === 'started') {
    return isOrphan(row, nowMs)
      ? { kind: 'spent', outcome: 'its outcome is unknown' }
      : { kind: 'running' }
  }
  if (row.status === 'success') return { kind: 'spent', outcome: 'it succeeded' }
  return row.effect === 'none'
    ? { kind: 'unspent' }
    : { kind: 'spent', outcome: 'it failed, and may have taken effect' }
}

/**
 * Waits until the call that uses an approval has ended. Returns its row when it succeeded, so that the same call made
 * elsewhere can have its output; undefined when the approval has to be looked at again, or time is over.
 */
export async function waitForUse(
  log: ToolCallLog,
  approval: ApprovalRow,
  options: { readonly waitMs: number; readonly graceMs: number; readonly signal: AbortSignal },
): Promise<ToolCallRow | undefined> {
  const { waitMs, graceMs, signal } = options
  const deadline = performance.now() + waitMs
  for (let delayMs = 4; performance.now() < deadline; delayMs = Math.min(delayMs * 2, 250)) {
    const use = await useOf(log, approval, graceMs)
    if (use.kind !== 'running') {
      const [row] = await log.list({ callToken: approval.usedBy ?? '', limit: 1 })
      return row?.status === 'success' ? row : undefined
    }
    await sleep(delayMs * (0.5 + Math.random()), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    )
  }
  return undefined
}

/** Marks an approval as used by one call; false when somebody else was faster. */
export function takeApproval(
  store: ApprovalStore,
  approval: ApprovalRow,
  callToken: string,
): MaybePromise<boolean> {
  const { id, status, usedBy } = approval
  return store.update(
    id,
    { status, usedBy },
    {
      status: 'executed',
      usedBy: callToken,
      usedByOwner: currentOwnerId(),
      usedAtMs: Date.now(),
    },
  )
}

/** Gives an approval back: the call that took it did not run. */
export async function returnApproval(
  store: ApprovalStore,
  id: string,
  callToken: string,
): Promise<void> {
  await store.update(
    id,
    { status: 'executed', usedBy: callToken },
    {
      status: 'approved',
      usedBy: null,
      usedByOwner: null,
      usedAtMs: null,
    },
  )
}
