import { contextOfCall } from '../context/ambient-context.ts'
import { inlineOutput } from './inline-output.ts'
import { type SettleFinalAnswer, answeredError } from '../journal/final-answer.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import {
  completeCallOptions,
  invalidBefore,
  type ToolCallOptions,
} from '../contract/tool-call-options.ts'
import { CallAbort } from '../context/call-abort.ts'
import { CallAdmission } from './call-admission.ts'
import { CallFinish } from '../journal/finish-call.ts'
import { identifyCall } from '../history/call-identity.ts'
import { type BegunCall, type CallScope, stoppedError, withinTask } from './call-scope.ts'
import { CallRecord } from '../journal/call-record.ts'
import { hintAtMissingRun } from './definition-warning.ts'
import { chain, rescue } from '../async/maybe-promise.ts'
import { errorWithNotice } from './error-with-notice.ts'
import { journalOf } from '../journal/attempt-journal.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { describeInvalidInput, validateInput } from './validate-input.ts'

/** One call of one tool, from its arguments to its finished row. */
export class ToolCall {
  readonly #parts: CallScope
  #admission: CallAdmission | undefined
  /** Whether the task had ended when this call was made. */
  readonly #endedBefore: MaybePromise<boolean>
  readonly #settleEnd: SettleFinalAnswer | undefined

  /** Takes the call's place in its task. Nothing is awaited before, so places are in the order of calls. */
  constructor(definition: ToolDefinition, given: ToolCallOptions | undefined) {
    const options = completeCallOptions(given)
    const task = contextOfCall(options)
    const journal = journalOf(task)
    const record = new CallRecord(definition, journal, options.toolCallId)
    const ending = new CallFinish(definition, journal, record, options.toolCallId)
    const abort = new CallAbort(() => [options.abortSignal, journal.signal])
    this.#parts = { definition, task, journal, options, record, ending, abort }
    this.#endedBefore = journal.finalAnswer.ended
    this.#settleEnd = definition.finalAnswer ? journal.finalAnswer.mayEnd() : undefined
  }

  get abort(): CallAbort {
    return this.#parts.abort
  }

  /** Validates, derives the key, decides, and stores the start row. Throws when the tool must not run. */
  begin(given: unknown): MaybePromise<BegunCall> {
    const { definition, task, journal, options, record, ending } = this.#parts
    if (task.ephemeral && ending.unsafe) hintAtMissingRun(definition)
    // Some providers number the calls of every reply alike: an older note is of another call.
    journal.history.notes.delete(options.toolCallId)
    journal.pause.begin()
    return chain(this.#open(), () =>
      chain(this.#endedBefore, (ended) => {
        const stopped = ended ? answeredError(record.row.toolName) : stoppedError(this.#parts)
        if (stopped !== undefined) return this.#refuseInput(stopped, given)
        const parsed = rescue(
          () => validateInput(definition, given),
          (error) => this.#refuseInput(error, given),
        )
        return chain(parsed, (args) => {
          const refusal = options[invalidBefore]
          if (refusal !== undefined) return this.#refuseInput(refusal, given)
          let admission: CallAdmission
          try {
            admission = this.#identify(args)
          } catch (error) {
            return ending.refuse(error)
          }
          this.#settleEnd?.(true)
          this.#admission = admission
          return admission.proceed()
        })
      }),
    )
  }

  /** The call is over, however it ended. */
  leave(): void {
    // Without effect when the call was valid.
    this.#settleEnd?.(false)
    this.#parts.journal.pause.end()
  }

  /** Runs the synchronous part of the tool in the context of its task. */
  run<Result>(fn: () => Result): Result {
    return this.#parts.record.around(() => this.within(fn))
  }

  /** Makes the task ambient, so that tools called by this one belong to it. */
  within<Result>(fn: () => Result): Result {
    return withinTask(this.#parts.task, fn)
  }

  /** Records the output, and returns it. */
  succeed(output: unknown): MaybePromise<unknown> {
    const { definition, record, ending } = this.#parts
    const recorded = record.describeOutput(output)
    const effect = definition.metadata.sideEffect ? 'applied' : 'none'
    const pass = this.#admission?.pass
    return chain(ending.finish({ status: 'success', output: recorded, effect }), (fenced) => {
      if (fenced !== undefined) {
        return chain(pass?.failed(fenced, { effect: 'unknown', aborted: true }), () => {
          throw fenced
        })
      }
      return chain(pass?.succeeded(output), () =>
        chain(ending.snapshot(), () => this.inline(output)),
      )
    })
  }

  /** What the agent gets of an output. */
  inline(output: unknown): MaybePromise<unknown> {
    const { definition, task, journal, record } = this.#parts
    const { maxInlineOutputBytes: maxBytes, redact, onLogError } = journal.policy
    const { archivesOutput, logOutput, streams } = definition
    const { state, capabilities } = task.log
    // What the log may not see whole is not kept whole either; what a stream has shown cannot be taken back.
    if (maxBytes === undefined || !archivesOutput || logOutput !== undefined || streams)
      return output
    if (state === undefined || capabilities.state !== true) return output
    return inlineOutput(output, { maxBytes, store: state, row: record.row, redact, onLogError })
  }

  /** Records that the tool failed. */
  fail(error: unknown): MaybePromise<void> {
    const { ending } = this.#parts
    const effect = ending.effectOf(error)
    return chain(ending.finish({ status: 'error', error, effect }), () => {
      const aborted = this.#endedFromOutside()
      return chain(this.#admission?.pass?.failed(error, { effect, aborted }), () =>
        ending.snapshot(),
      )
    })
  }

  /** What the agent gets of a failure: for it, what a repeated call repeats stands in front. */
  told(error: unknown): unknown {
    const { journal, options } = this.#parts
    const note = journal.history.notes.get(options.toolCallId)
    return note === undefined ? error : errorWithNotice(error, note)
  }

  #open(): MaybePromise<void> {
    const { journal, ending } = this.#parts
    return rescue(
      () => journal.open(),
      (error) => ending.withoutLog(error),
    )
  }

  /** Finds out which call of its task this is. */
  #identify(args: unknown): CallAdmission {
    const { definition, task, journal, options, record, ending } = this.#parts
    const { policy, history } = journal
    const { name } = definition.metadata
    record.describeInput(args)
    const identity = identifyCall(definition, task, policy, args)
    const place = history.locate(name, identity, options.toolCallId, options.messages)
    const { prior, continued, occurrence } = place
    // A key of the tool's own names the intent, so another key is another intent.
    const mayDrift = ending.unsafe && prior.length === 0 && definition.key === 'call'
    const drifted = mayDrift ? history.rewordedFrom(name) : undefined
    record.identify(identity, occurrence)
    return new CallAdmission(this.#parts, { args, identity, prior, drifted, continued })
  }

  #endedFromOutside(): boolean {
    const { options, journal } = this.#parts
    return [options.abortSignal, journal.signal].some((signal) => signal?.aborted)
  }

  #refuseInput(error: unknown, given: unknown): MaybePromise<never> {
    const { definition, record, ending } = this.#parts
    record.describeGiven(describeInvalidInput(definition, given))
    return ending.refuse(error)
  }
}
