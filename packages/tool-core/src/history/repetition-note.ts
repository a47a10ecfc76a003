import { type CallSummary, outcomeOf } from './call-summary.ts'
import { chain } from '../async/maybe-promise.ts'
import { brief } from '../json/recorded-json.ts'
import { retryWarningMarker } from './retry-warning.ts'

/** The note in the result of a call that repeats, or may repeat, one of an earlier attempt. */
export function repetitionNote(
  prior: CallSummary,
  call: { readonly idempotencyKey: string; readonly inputJson: string | null },
): string {
  const when = new Date(prior.startedAtMs).toISOString()
  const outcome = outcomeOf(prior) === 'success' ? 'succeeded' : 'may have happened'
  return prior.idempotencyKey === call.idempotencyKey
    ? `${retryWarningMarker} This call repeated one that an earlier attempt made at ${when} and that ${outcome}. It ran with the same idempotency key ${call.idempotencyKey}; check the outside state.`
    : `${retryWarningMarker} This call may repeat, in other words, one that an earlier attempt made at ${when} and that ${outcome}: its arguments were ${prior.inputHead ?? 'not recorded'}, these are ${brief(call.inputJson)}. Check the outside state.`
}

/** The note in the result of a call that ran because the output of the earlier one could not be returned. */
export function unreusableNote(prior: CallSummary, idempotencyKey: string): string {
  const when = new Date(prior.startedAtMs).toISOString()
  return `${retryWarningMarker} An earlier attempt made this call at ${when} and it succeeded. Its output could not be returned, because it was not recorded whole: something of it was cut, hidden or only described. So the call ran again with the same idempotency key ${idempotencyKey}; check the outside state.`
}

/** What the AI SDK makes of an output for the model, in the forms that matter here. */
type ModelOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json' | 'error-json'; readonly value: unknown }
  | { readonly type: 'content'; readonly value: readonly unknown[] }
  | { readonly type: string; readonly value?: unknown }

/** AI SDK 6 and 7 hand over an object, 5 the output alone, without the id that a note is kept under. */
interface ModelOutputOptions {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

export type ToModelOutput = (given: unknown) => ModelOutput | PromiseLike<ModelOutput>

/** Puts the notes of repeated calls in front of what the model reads; the output itself stays what the tool returned. */
export function withRepetitionNotes(
  toModelOutput: ToModelOutput | undefined,
  notes: ReadonlyMap<string, string>,
): ToModelOutput {
  return (given) => {
    const output = isModelOutputOptions(given) ? given.output : given
    const note = isModelOutputOptions(given) ? notes.get(given.toolCallId) : undefined
    // At once when it can be: AI SDK 5 does not wait, and fails over a promise among its messages.
    const shown = toModelOutput === undefined ? plainOutput(output) : toModelOutput(given)
    return note === undefined ? shown : chain(shown, (plain) => prefixed(plain, note))
  }
}

function isModelOutputOptions(given: unknown): given is ModelOutputOptions {
  if (typeof given !== 'object' || given === null) return false
  return 'toolCallId' in given && 'input' in given && 'output' in given
}

// As the AI SDK does for a tool without `toModelOutput`.
function plainOutput(output: unknown): ModelOutput {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: output ?? null }
}

function prefixed(shown: ModelOutput, note: string): ModelOutput {
  if (typeof shown.value === 'string') return { ...shown, value: `${note}\n${shown.value}` }
  const parts = shown.type === 'content' && Array.isArray(shown.value) ? shown.value : undefined
  const text = { type: 'text', text: note }
  return {
    type: 'content',
    value: [text, ...(parts ?? [{ type: 'text', text: JSON.stringify(shown.value) }])],
  }
}
