import { settled, type Steps } from '../async/maybe-promise.ts'
import type { LimitSettings } from '../contract/gate-options.ts'
import type { CallEffect } from '../errors/smithers-error.ts'
import type { ApprovedCall } from '../approvals/approvable-call.ts'
import type { SettleBreaker } from './circuit-breaker.ts'
import type { ReleaseSlot } from './execution-limit.ts'
import type { Flight } from './result-cache.ts'

/** How a call that passed the gates ended. */
export type SettledCall =
  | { readonly output: unknown }
  | {
      readonly error: unknown
      /** What the call may have done: an approval of one that certainly did nothing still holds. */
      readonly effect: CallEffect
      /** The call was ended from outside, which says nothing about the tool. */
      readonly aborted: boolean
    }

/** What the gates of a tool reserved for one call, until the call is settled or released. */
export class GateReservation {
  slot: ReleaseSlot | undefined
  counted: LimitSettings['counted'] = 'executions'
  approval: ApprovedCall | undefined
  breaker: SettleBreaker | undefined
  flight: Flight | undefined;

  /** The call ran. */
  *settle(ending: SettledCall): Steps<void> {
    const { flight, approval } = this
    this.flight = undefined
    if ('output' in ending) {
      flight?.succeed(ending.output)
      if (approval?.close !== undefined) yield* settled(approval.close())
      this.breaker?.('success')
      return
    }
    const { error, effect, aborted } = ending
    // Stopping this call has not stopped the calls that wait for it: one of them runs in its place.
    if (aborted) flight?.abandon()
    else flight?.fail(error)
    if (this.counted === 'successes') this.slot?.()
    const close = effect === 'none' ? approval?.erasePreview : approval?.close
    if (close !== undefined) yield* settled(close())
    this.breaker?.(aborted ? 'unused' : 'failure')
  }

  /** The call did not run: everything is given back. */
  release(): void {
    this.slot?.()
    this.flight?.abandon()
    this.flight = undefined
    this.approval?.release?.()
    this.breaker?.('unused')
  }
}
