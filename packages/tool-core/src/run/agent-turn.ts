import { setImmediate as turnOfEventLoop } from 'node:timers/promises'
import { type AttemptJournal } from '../journal/attempt-journal.ts'
import { depart } from '../journal/error-effect.ts'
import type { RecordedStep } from './record-invalid-calls.ts'

/** A part of the AI SDK's stream, as far as it is read. */
interface StreamPart {
  readonly type: string
  readonly invalid?: boolean
  readonly error?: unknown
}

/** One turn of an agent in a run: from its `generate` or `stream` to the end of its answer. */
export class AgentTurn {
  readonly #journal: AttemptJournal
  readonly #record: (step: RecordedStep) => Promise<void>
  #isOver = false

  constructor(journal: AttemptJournal, record: (step: RecordedStep) => Promise<void>) {
    this.#journal = journal
    this.#record = record
    journal.beginTurn()
  }

  /** The step of `generate` is over. */
  async afterStep(step: RecordedStep): Promise<void> {
    await this.#record(step)
    if (step.toolCalls.length > 0) await untilPaused()
  }

  /** Ends the turn. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#journal.endTurn()
  }

  /** What an error of the agent comes to: what ended the run outranks the failure that it caused. */
  failure(error: unknown): unknown {
    const { fatal } = this.#journal
    if (fatal === undefined) return error
    depart(fatal)
    return fatal
  }

  /** The agent's answer, or what of it comes later, unless the run had to stop. */
  async settled<Value>(value: PromiseLike<Value>): Promise<Value> {
    let answer: Value
    try {
      answer = await value
    } catch (error) {
      throw this.failure(error)
    }
    if (this.#journal.fatal !== undefined) throw this.failure(undefined)
    return answer
  }

  /**
   * A stage of the agent's stream. It records refused calls, ends the turn with the stream, and adds what ended the run as
   * a part of the type `error`.
   */
  readonly transform = (): TransformStream<StreamPart, StreamPart> => {
    let calls = 0
    const end = (controller: TransformStreamDefaultController<StreamPart>): void => {
      if (this.#isOver) return
      this.end()
      if (this.#journal.fatal === undefined) return
      controller.enqueue({ type: 'error', error: this.failure(undefined) })
    }
    return new TransformStream<StreamPart, StreamPart>({
      transform: async (part, controller) => {
        if (part.type === 'tool-call') {
          calls += 1
          if (part.invalid === true) await this.#record({ toolCalls: [part] })
        } else if (part.type === 'finish-step' && calls > 0) {
          calls = 0
          await untilPaused()
        } else if (part.type === 'finish' || part.type === 'abort') end(controller)
        controller.enqueue(part)
      },
      // After an error of the model there is no last part.
      flush: end,
    })
  }
}

/**
 * A run that waits for an approval is aborted one turn of the event loop after its last call. A model that answers at once
 * must not be asked again before that.
 */
function untilPaused(): Promise<void> {
  return turnOfEventLoop()
}
