import { withTimeout } from '../async/with-timeout.ts'
import { abortedError } from '../journal/call-errors.ts'
import type { ApprovalSettings } from '../contract/gate-options.ts'
import type { ApprovalDecision, ApprovalRequest } from '../contract/on-approval.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import { nowOf } from '../log/log-clock.ts'
import type { ApprovableCall } from './approvable-call.ts'
import { approvalRequired } from './approval-errors.ts'
import { checkApprovedArguments } from './check-approved-arguments.ts'
import { recordDecision } from './record-decision.ts'

/** What the question needs of a call. */
export interface DecidedCall extends Pick<ApprovableCall, 'args' | 'policy' | 'context'> {
  readonly definition: Pick<ApprovableCall['definition'], 'schema' | 'timeoutMs'>
  readonly task: Pick<ApprovableCall['task'], 'timeoutMs' | 'log'>
}

/**
 * Puts a pending approval to the run's `onApproval` and records its decision. The answer is awaited until the approval
 * expires, the call is aborted, or the time of `approvalTimeoutMs` or of the tool is over.
 *
 * @throws SmithersError `TOOL_APPROVAL_REQUIRED` without an `onApproval`, without a decision from it, and for an answer
 *   whose `approved` is neither true nor false. The approval stays pending.
 */
export async function decideNow(
  store: ApprovalStore,
  pending: ApprovalRow,
  call: DecidedCall,
  settings: Pick<ApprovalSettings, 'defaults'>,
): Promise<void> {
  const { definition, args, policy, context, task } = call
  const { onApproval } = policy
  if (onApproval === undefined) throw approvalRequired(pending)
  let problem: string | undefined
  for (;;) {
    const request: ApprovalRequest = {
      approval: pending,
      args,
      defaults: settings.defaults?.(args),
      context: context(),
      problem,
    }
    const answer = (async () => onApproval(request))()
    const decision = await withTimeout(answer, {
      timeoutMs: timeLeft(pending, call),
      timedOut: () => approvalRequired(pending),
      signal: request.context.abortSignal,
      aborted: (reason) => abortedError(pending.toolName, reason),
    }).catch((error: unknown) => {
      void recordLate(store, pending, call, answer)
      throw error
    })
    if (decision === undefined) throw approvalRequired(pending)
    assertDecided(pending, decision)
    if (decision.approved && decision.approvedArgs !== undefined) {
      const checked = await checkApprovedArguments(
        definition.schema,
        decision.approvedArgs,
        definition.timeoutMs ?? task.timeoutMs,
      )
      if (!checked.ok) {
        problem = checked.problem
        continue
      }
    }
    // When another decision was faster, that one counts.
    await recordDecision(store, pending, decision, nowOf(task.log))
    return
  }
}

/** The call no longer waits, but a person's decision still counts for the next attempt. */
async function recordLate(
  store: ApprovalStore,
  pending: ApprovalRow,
  { definition, task }: DecidedCall,
  answer: Promise<ApprovalDecision | undefined>,
): Promise<void> {
  try {
    const decision = await answer
    if (decision === undefined) return
    assertDecided(pending, decision)
    const { approved, approvedArgs } = decision
    if (approved && approvedArgs !== undefined) {
      if (!(await checkApprovedArguments(definition.schema, approvedArgs, task.timeoutMs)).ok)
        return
    }
    await recordDecision(store, pending, decision, nowOf(task.log))
  } catch {
    // The request stays pending, and the next attempt repeats it.
  }
}

/** Anything but true and false, such as a promise that was not awaited, must not pass for a decision. */
function assertDecided(
  pending: ApprovalRow,
  decision: unknown,
): asserts decision is ApprovalDecision {
  const approved: unknown =
    typeof decision === 'object' && decision !== null
      ? (decision as { readonly approved?: unknown }).approved
      : decision
  if (typeof decision === 'object' && typeof approved === 'boolean') return
  const given = typeof approved === 'object' && approved !== null ? 'an object' : String(approved)
  throw approvalRequired(
    pending,
    `onApproval must answer { approved: true } or { approved: false }; approved was ${given}${typeof approved === 'string' ? ' (a text)' : ''}. Await what you ask before you answer.`,
  )
}

/** How long to wait for an answer, in milliseconds. */
function timeLeft(
  { expiresAtMs }: ApprovalRow,
  { definition, policy, task }: Pick<DecidedCall, 'definition' | 'policy' | 'task'>,
): number {
  const untilExpired = expiresAtMs === null ? Infinity : Math.max(0, expiresAtMs - nowOf(task.log))
  return Math.min(policy.approvalTimeoutMs, definition.timeoutMs ?? Infinity, untilExpired)
}
