import { SmithersError } from '../errors/smithers-error.ts'

/**
 * Ends the run once a call waits for approval, but lets the other calls of the same turn finish: the run ends when
 * none of its calls is running any more.
 */
export class RunPause {
  readonly #stop: (error: SmithersError) => void
  /** The calls that wait for approval. */
  readonly waiting: SmithersError[] = []
  #running = 0
  #onIdle: (() => void)[] = []

  /** @param stop Ends the run, with the error that names every call that waits. */
  constructor(stop: (error: SmithersError) => void) {
    this.#stop = stop
  }

  /** How many calls run now. */
  get running(): number {
    return this.#running
  }

  begin(): void {
    this.#running += 1
  }

  end(): void {
    this.#running -= 1
    if (this.#running > 0) return
    for (const resolve of this.#onIdle.splice(0)) resolve()
    if (this.waiting.length === 0) return
    // The AI SDK starts the calls of a turn one after another, each after some microtasks.
    setImmediate(() => {
      if (this.#running === 0) this.#stop(runPaused(this.waiting))
    })
  }

  /** Settles when no call runs. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve()
    return new Promise((resolve) => void this.#onIdle.push(resolve))
  }

  /** A call waits for approval. */
  add(waiting: SmithersError): void {
    this.waiting.push(waiting)
  }

  /** Why the run is over, once it is. */
  get reason(): SmithersError | undefined {
    return this.#running === 0 && this.waiting.length > 0 ? runPaused(this.waiting) : undefined
  }
}

/** The run continues once the approvals are decided. */
function runPaused(waiting: readonly SmithersError[]): SmithersError {
  const approvals = waiting.map(({ details }) => details)
  const list = approvals.map(
    (each) => `${String(each['approvalId'])} (${String(each['toolName'])})`,
  )
  return new SmithersError(
    'TOOL_APPROVAL_REQUIRED',
    `The run is paused: ${list.length === 1 ? '1 call is' : `${list.length} calls are`} pending approval: ${list.join(', ')}. ` +
      'Decide with resolveToolApproval, then resume the run with its id.',
    { details: { approvals }, effect: 'none' },
  )
}
