import { chain } from '../async/maybe-promise.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { CallEffect } from '../errors/smithers-error.ts'
import type { ApprovedCall } from '../approvals/approvable-call.ts'
import type { SettleBreaker } from './circuit-breaker.ts'
import type { ReleaseSlot } from './execution-limit.ts'
import type { LimitSettings } from '../contract/gate-options.ts'
import type { Flight } from './result-cache.ts'

/** What the gates have set aside for one call, until it is known how the call ended. */
export class GateReservation {
  /** False when the call may only be answered from the cache. */
  mayRun = true
  #slot: ReleaseSlot | undefined
  #counted: LimitSettings['counted'] = 'executions'
  #approval: ApprovedCall | undefined
  #breaker: SettleBreaker | undefined
  #flight: Flight | undefined

  holdSlot(slot: ReleaseSlot, counted: LimitSettings['counted']): void {
    this.#slot = slot
    this.#counted = counted
  }

  holdApproval(approval: ApprovedCall): void {
    this.#approval = approval
  }

  holdBreaker(settle: SettleBreaker): void {
    this.#breaker = settle
  }

  holdFlight(flight: Flight): void {
    this.#flight = flight
  }

  /** Asked once the start of the call is recorded: its approval is still its own. Undefined when it needed none. */
  stillApproved(): MaybePromise<boolean> | undefined {
    return this.#approval?.isHeld?.()
  }

  succeeded(output: unknown): MaybePromise<void> {
    this.#flight?.succeed(output)
    this.#flight = undefined
    return chain(this.#approval?.forget?.(), () => this.#breaker?.('success'))
  }

  /**
   * @param ending.effect What the call may have done: an approval of one that certainly did nothing still stands.
   * @param ending.aborted The call was ended from outside, which says nothing about the tool.
   */
  failed(
    error: unknown,
    { effect, aborted }: { readonly effect: CallEffect; readonly aborted: boolean },
  ): MaybePromise<void> {
    // Whoever stopped this call has not stopped those that wait for it: one of them runs in its place.
    if (aborted) this.#flight?.abandon()
    else this.#flight?.fail(error)
    this.#flight = undefined
    if (this.#counted === 'successes') this.#slot?.()
    const forgotten = effect === 'none' ? undefined : this.#approval?.forget?.()
    return chain(forgotten, () => this.#breaker?.(aborted ? 'unused' : 'failure'))
  }

  /** The call did not run: everything is given back. */
  release(): MaybePromise<void> {
    this.#slot?.()
    this.#flight?.abandon()
    this.#flight = undefined
    return chain(this.#approval?.giveBack?.(), () => this.#breaker?.('unused'))
  }
}
