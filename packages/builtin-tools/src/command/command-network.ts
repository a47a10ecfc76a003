import type { NetworkDecision, OnNetworkDecision, RunResult } from '@smithers/sandbox'
import {
  HostApprovals,
  type OnHostDecision,
  recordNetworkUse,
  type SmithersError,
  type ToolContext,
} from '@smithers/tool-core'
import type { BundleOptions } from '../bundle/bundle-options.ts'
import { networkOfCall } from '../bundle/network-of-call.ts'

/** The connections of one command: who decides about them, and what is left to do when it has ended. */
export interface CommandNetwork {
  readonly onDecision: OnNetworkDecision | undefined
  /**
   * Records the connections and waits for open questions.
   *
   * @returns What the model must know of hosts that were approved too late, and why the run pauses if one still waits
   */
  settle(result: RunResult): Promise<{
    readonly notes: readonly string[]
    readonly waits: SmithersError | undefined
  }>
}

export function commandNetwork(
  ctx: ToolContext,
  bundle: BundleOptions,
  argv: readonly string[],
): CommandNetwork {
  const { onDecision } = networkOfCall(ctx, bundle)
  const approvals = onDecision && new HostApprovals(ctx, argv.join(' '))
  return {
    onDecision: approvals && hostDecider(onDecision, approvals),
    async settle({ network }) {
      if (network !== undefined) recordNetworkUse(ctx, network)
      const { late, waits } = (await approvals?.settle()) ?? { late: [], waits: undefined }
      const notes = late.map(
        (host) => `${host} was approved too late for the command: call it again.`,
      )
      return { notes, waits }
    },
  }
}

/**
 * Decides about the connections of a command in the background as the run's callback does. An approval that was given before
 * counts; a question for a new one is a refusal, since the call that it would pause is over.
 */
export function decisionWithoutAsking(
  ctx: ToolContext,
  bundle: BundleOptions,
  argv: readonly string[],
): OnNetworkDecision | undefined {
  const { onDecision } = networkOfCall(ctx, bundle)
  if (onDecision === undefined) return undefined
  const approvals = new HostApprovals(ctx, argv.join(' '))
  return async (decision) => {
    const answer = await onDecision(decision)
    if (answer !== 'ask') return answer
    if (!canBeApproved(decision)) return undefined
    if (await approvals.isGranted(decision)) return 'allow'
    return { deny: 'It needs approval, which no command in the background can ask for.' }
  }
}

/**
 * Answers the sandbox about the connections of one command: asks the run's callback, and for approval where that says so.
 *
 * *Guarantees*: an answer that the callback does not have, and an error of it, refuse. No approval is asked for where it
 * would open nothing.
 */
function hostDecider(onDecision: OnHostDecision, approvals: HostApprovals): OnNetworkDecision {
  return async (decision) => {
    const answer = await onDecision(decision)
    // The sandbox refuses what it does not know.
    if (answer !== 'ask') return answer
    if (!canBeApproved(decision)) return undefined
    const permission = await approvals.approve(decision)
    return permission.allowed ? 'allow' : { deny: permission.why }
  }
}

/** The rules allow it or do not mention it; a rule of `deny`, and an address that is not public, stand. */
function canBeApproved({ allowed, reason, addresses }: NetworkDecision): boolean {
  return allowed ? addresses.length > 0 : reason === 'not-allowed'
}
