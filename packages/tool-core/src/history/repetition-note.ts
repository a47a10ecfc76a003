import { type CallSummary, outcomeOf } from './call-summary.ts'
import { brief } from '../json/recorded-json.ts'
import { retryWarningMarker } from './retry-warning.ts'

/**
 * The note in the result of a call that repeats, or may repeat, one of an earlier attempt. It names the call: AI SDK 5
 * may show it with the result of an equal text.
 */
export function repetitionNote(
  prior: CallSummary,
  call: {
    readonly toolName: string
    readonly idempotencyKey: string
    readonly inputJson: string | null
  },
): string {
  const when = new Date(prior.startedAtMs).toISOString()
  const outcome = outcomeOf(prior) === 'success' ? 'succeeded' : 'may have happened'
  const name = `${call.toolName} ${brief(call.inputJson)}`
  return prior.idempotencyKey === call.idempotencyKey
    ? `${retryWarningMarker} The call ${name} repeated one that an earlier attempt made at ${when} and that ${outcome}. It ran with the same idempotency key ${call.idempotencyKey}; check the outside state.`
    : `${retryWarningMarker} The call ${name} may repeat, in other words, one that an earlier attempt made at ${when} and that ${outcome}, with the arguments ${prior.inputHead ?? '(not recorded)'}. Check the outside state.`
}

/** The note in the result of a call that ran because the output of the earlier one could not be returned. */
export function unreusableNote(
  prior: CallSummary,
  call: { readonly toolName: string; readonly idempotencyKey: string },
): string {
  const when = new Date(prior.startedAtMs).toISOString()
  return `${retryWarningMarker} An earlier attempt made this call of ${call.toolName} at ${when} and it succeeded. Its output could not be returned, because it was not recorded whole: something of it was cut, hidden or only described. So the call ran again with the same idempotency key ${call.idempotencyKey}; check the outside state.`
}
