import type { DecideRequest } from '../../api/approvals.ts'
import { failure, load, say, type ViewerContext } from './viewer-context.ts'
import { refreshRun } from './open-run.ts'
import { refreshDetail } from './select-call.ts'
import { valueOf } from './viewer-state.ts'

/** Reads what waits for a decision. */
export async function loadApprovals({ source, store }: ViewerContext): Promise<void> {
  const answer = await load(async () => (await source.approvals()).approvals)
  if (answer.state === 'failed' && valueOf(store.get().approvals) !== undefined) return
  store.set({ approvals: answer })
}

/** Shows the inbox with its oldest request. */
export function openApprovals({ store }: ViewerContext): void {
  const waiting = valueOf(store.get().approvals) ?? []
  const { approvalId } = store.get()
  const shown = waiting.find(({ id }) => id === approvalId) ?? waiting[0]
  store.set({
    main: 'approvals',
    pane: 'main',
    approvalId: shown?.id ?? null,
    detailOpen: shown !== undefined,
  })
}

/** Shows the request after the shown one, or before it. */
export function moveApproval({ store }: ViewerContext, step: 1 | -1): void {
  const waiting = valueOf(store.get().approvals) ?? []
  const at = waiting.findIndex(({ id }) => id === store.get().approvalId)
  const next = waiting[Math.min(Math.max(at + step, 0), waiting.length - 1)]
  if (next !== undefined) store.set({ approvalId: next.id, detailOpen: true, pane: 'detail' })
}

/** Records a decision; resolves to why it was not recorded, or undefined. */
export async function decide(
  context: ViewerContext,
  request: DecideRequest,
): Promise<{ readonly code: string; readonly message: string } | undefined> {
  try {
    await context.source.decide(request)
  } catch (error) {
    await loadApprovals(context)
    return failure(error)
  }
  say(context, request.approved ? 'Approved.' : 'Rejected.')
  await Promise.all([loadApprovals(context), refreshRun(context), refreshDetail(context)])
  return undefined
}
