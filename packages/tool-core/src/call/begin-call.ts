import { settled, type Steps } from '../async/maybe-promise.ts'
import { invalidBefore } from '../contract/tool-call-options.ts'
import { identifyCall } from '../history/call-identity.ts'
import { answeredError } from '../journal/final-answer.ts'
import { CallAdmission } from './admit-call.ts'
import { type BegunCall, type CallScope, stoppedError, waitError } from './call-scope.ts'
import { hintAtMissingRun } from './definition-warning.ts'
import { describeInvalidInput, validateInput } from './validate-input.ts'

/** Validates, derives the key, decides, and stores the start row. Throws when the tool must not run. */
export function* beginCall(call: CallScope, given: unknown): Steps<BegunCall> {
  const { definition, task, journal, options, record, finish } = call
  if (task.ephemeral && finish.unsafe) hintAtMissingRun(definition)
  // Some providers number the calls of every reply alike: an older note is of another call.
  journal.history.notes.delete(options.toolCallId)
  try {
    yield* journal.open(call.abort)
  } catch (error) {
    const ended = waitError(call, error)
    if (ended !== error) return yield* finish.refuse(ended)
    finish.withoutLog(error)
  }
  let args: unknown
  try {
    const answered = call.answeredBefore === false ? false : yield* settled(call.answeredBefore)
    const stopped = answered ? answeredError(record.row.toolName) : stoppedError(call)
    if (stopped !== undefined) throw stopped
    args = yield* validateInput(call, given)
    const refusal = options[invalidBefore]
    if (refusal !== undefined) throw refusal
  } catch (error) {
    record.describeGiven(describeInvalidInput(definition, given))
    return yield* finish.refuse(waitError(call, error))
  }
  let admission: CallAdmission
  try {
    admission = identify(call, args)
  } catch (error) {
    return yield* finish.refuse(error)
  }
  call.settleFinalAnswer?.(true)
  return yield* admission.admit()
}

/** Finds out which call of its task this is. */
function identify(call: CallScope, args: unknown): CallAdmission {
  const { definition, task, journal, options, record, finish } = call
  const { policy, history } = journal
  const { name } = definition.metadata
  record.describeInput(args)
  const identity = identifyCall(definition, task, policy, args)
  const found = history.locate(name, identity, options.toolCallId, options.messages)
  // A key of the tool's own names the intent, so another key is another intent.
  const mayBeReworded = finish.unsafe && found.prior.length === 0 && definition.key === 'call'
  const reworded = mayBeReworded ? history.rewordedFrom(name) : undefined
  record.identify(identity, found.occurrence)
  const { prior, continued } = found
  return new CallAdmission(call, { args, identity, prior, reworded, continued })
}
