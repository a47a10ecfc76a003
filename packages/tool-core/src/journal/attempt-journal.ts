import { isOrphan } from '../log/orphan.ts'
import { boundedLog } from '../log/bounded-log.ts'
import { nowOf } from '../log/log-clock.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { JournalPolicy } from '../contract/journal-options.ts'
import { FinalAnswer } from './final-answer.ts'
import { RunPause } from './run-pause.ts'
import { AttemptsBeside, RowOwners } from './attempts-beside.ts'
import { CallHistory } from '../history/call-history.ts'
import { retryWarningText } from '../history/retry-warning.ts'
import { type CallSummary, summarizeRow } from '../history/call-summary.ts'
import { supersededError } from './call-errors.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import type { CallAbort } from '../async/call-abort.ts'
import { drive, isThenable, settled, type Steps } from '../async/maybe-promise.ts'
import { currentOwnerId } from '../log/process-owner.ts'

const journalKey: unique symbol = Symbol.for('smithers.tool.journal') as never

/** Gives a context the journal that all calls made with it share. Not enumerable: a spread copy is a new task. */
export function attachJournal(context: TaskContext, policy: JournalPolicy): void {
  Object.defineProperty(context, journalKey, { value: new AttemptJournal(context, policy) })
}

export function hasJournal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && journalKey in value
}

export function journalOf(context: TaskContext): AttemptJournal {
  return (context as unknown as { readonly [journalKey]: AttemptJournal })[journalKey]
}

/** What the calls of one attempt of a task share. */
export class AttemptJournal {
  readonly task: TaskContext
  readonly ownerId: string = currentOwnerId()
  readonly policy: JournalPolicy
  /** Keys that may run again although an earlier call of theirs may stand. */
  readonly allowed: Set<string> = new Set()
  /** Ends the run when a call waits for approval. */
  readonly pause: RunPause = new RunPause((error) => this.raise(error))
  /** Whether the task has its final answer. */
  readonly finalAnswer: FinalAnswer = new FinalAnswer()
  /** What the agent calls the tool that reads whole outputs: null when it has none, undefined when that is not known. */
  responseTool: string | null | undefined
  /** Why no call may begin any more: the program has closed the run. */
  closed: SmithersError | undefined
  /** The program has taken the result of the attempt. */
  settled = false
  /** Called once the attempt is settled. */
  readonly settleListeners: Set<() => void> = new Set()
  /** Undefined for a run whose id was made for it, which has no other attempts. */
  readonly beside: AttemptsBeside | undefined
  /** When its last call began, by the count of `AttemptsBeside.beginCall`. */
  lastCallAt = 0
  // Made when a call asks for them: many tasks of a workflow make none.
  #history: CallHistory | undefined
  #leases: LeaseKeeper | undefined
  #ordinal = 0
  #baseSeq = 0
  #opened = false
  #opening: PromiseLike<void> | undefined
  #fatal: SmithersError | undefined
  #closing: Promise<void> | undefined
  /** Turns of agents that have not ended. */
  #turns = 0
  #controller: AbortController | undefined

  constructor(task: TaskContext, policy: JournalPolicy) {
    this.task = task
    this.policy = policy
    this.beside = policy.startsEmpty ? undefined : new AttemptsBeside(this, task)
  }

  get history(): CallHistory {
    return (this.#history ??= new CallHistory(this.policy.lineage))
  }

  get leases(): LeaseKeeper {
    const { leaseMs, onLogError } = this.policy
    return (this.#leases ??= new LeaseKeeper(this.task.log, leaseMs, onLogError))
  }

  /** The log of the task; an answer that does not come is an error in time. */
  get log(): ToolCallLog {
    return boundedLog(this.task.log, this.policy.logTimeoutMs)
  }

  get isCalling(): boolean {
    return this.pause.running > 0
  }

  get isOver(): boolean {
    if (this.#fatal !== undefined || this.closed !== undefined || this.settled) return true
    return this.policy.abortSignal?.aborted === true
  }

  /** An agent begins to work. Its answer is the result of the attempt, unless others are still at work. */
  beginTurn(): void {
    this.#turns += 1
    this.settled = false
  }

  endTurn(): void {
    this.#turns -= 1
    if (this.#turns === 0) this.settle()
  }

  /** The program takes the result of the attempt: what still works for it is ended. */
  settle(): void {
    this.settled = true
    for (const listener of this.settleListeners) listener()
    this.settleListeners.clear()
  }

  /** Ends the attempt with everything that still works for it. Waits for its calls, but for no longer than they deserve. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.closed = runClosed(this.task.runId)
    this.settle()
    this.#controller?.abort(abortReason(this.closed))
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, closeGraceMs)
    await Promise.race([this.pause.idle(), promise])
    clearTimeout(timer)
  }

  /** Takes the next seat in the attempt. Synchronous, so that seats follow the order of calls. */
  nextOrdinal(): number {
    this.#ordinal += 1
    if (this.beside !== undefined) this.lastCallAt = this.beside.beginCall()
    return this.#ordinal
  }

  /** The seq of a seat; known once the journal is open. */
  seqOf(ordinal: number): number {
    return this.#baseSeq + ordinal
  }

  /** Reads what earlier calls of this task left in the log, once; again when that failed. */
  *open(abort: CallAbort | undefined): Steps<void> {
    if (this.#opened) return
    if (this.#opening === undefined) {
      const reading = this.policy.startsEmpty ? undefined : drive(this.#readEarlier())
      if (isThenable(reading)) this.#opening = this.#settleOpening(reading)
      else this.#opened = true
    }
    const opening = this.#opening
    if (opening !== undefined) yield abort === undefined ? opening : abort.race(opening)
  }

  /** What the agent must know of earlier attempts; from now on it counts as warned. */
  *retryWarning(maxBytes: number): Steps<string | null> {
    yield* this.open(undefined)
    this.history.warned = true
    return retryWarningText({
      attempt: this.task.attempt,
      earlier: this.history.earlier,
      maxBytes,
    })
  }

  /** Moves the seats not yet taken behind the last row of this attempt, because another worker writes to it. */
  *rebase(): Steps<void> {
    const { log } = this
    const { runId, nodeId, iteration, attempt } = this.task
    const newest = { runId, nodeId, iteration, attempt, order: 'descending', limit: 1 } as const
    const [last] = yield* settled(log.list(newest))
    this.#baseSeq = Math.max(this.#baseSeq + 1, last?.seq ?? 0)
  }

  /** What went wrong with the run itself, so that its result must not be trusted. */
  get fatal(): SmithersError | undefined {
    return this.#fatal ?? (this.pause.waiting.length > 0 ? this.pause.reason : undefined)
  }

  /** Stops the run: the AI SDK would turn an error thrown by a tool into a text for the model and continue. */
  raise(error: SmithersError): void {
    this.#fatal ??= error
    this.#controller?.abort(abortReason(this.#fatal))
  }

  /** Aborted when the run ends. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      const reason = this.#fatal ?? this.closed
      if (reason !== undefined) this.#controller.abort(abortReason(reason))
    }
    const { abortSignal } = this.policy
    return abortSignal === undefined
      ? this.#controller.signal
      : AbortSignal.any([abortSignal, this.#controller.signal])
  }

  async #settleOpening(reading: PromiseLike<void>): Promise<void> {
    try {
      await reading
      this.#opened = true
    } finally {
      this.#opening = undefined
    }
  }

  /** From now on the log takes no call of an earlier attempt, so that what it holds of them is all there will be. */
  *#begin(): Steps<void> {
    const { log } = this
    if (log.capabilities.attempts !== true || log.beginAttempt === undefined) return
    const { runId, nodeId, iteration, attempt } = this.task
    const begun = yield* settled(log.beginAttempt({ runId, nodeId, iteration, attempt }))
    if (begun === 'superseded') throw supersededError(this.task)
  }

  *#readEarlier(): Steps<void> {
    yield* this.#begin()
    const { log } = this
    const { runId, nodeId, iteration, attempt } = this.task
    const nowMs = nowOf(this.task.log)
    const earlier: CallSummary[] = []
    const owners = new RowOwners()
    let orphans = false
    let after: ToolCallRow | undefined
    for (;;) {
      const query = { runId, nodeId, iteration, limit: pageSize, ...(after && { after }) }
      const page: ToolCallRow[] = yield* settled(log.list(query))
      for (const row of page) {
        earlier.push(summarizeRow(row, nowMs))
        owners.add(row)
        if (row.attempt === attempt) this.#baseSeq = Math.max(this.#baseSeq, row.seq)
        orphans ||= isOrphan(row, nowMs)
      }
      after = page.at(-1)
      if (page.length < pageSize) break
    }
    const origins = this.beside?.originsOf(owners, this.ownerId, this.policy.leaseMs) ?? []
    for (const [index, origin] of origins.entries()) {
      const call = earlier[index]
      if (call !== undefined) call.origin = origin
    }
    this.history.addEarlier(earlier)
    if (orphans) yield* this.#recoverOrphans(nowMs)
  }

  /** Lets the log say what is known of calls whose worker is gone: that their outcome is not. */
  *#recoverOrphans(nowMs: number): Steps<void> {
    const { runId, nodeId, iteration } = this.task
    try {
      yield* settled(this.log.recover({ runId, nodeId, iteration, nowMs }))
    } catch (error) {
      // They are treated as orphans all the same.
      this.policy.onLogError(error)
    }
  }
}

/** A tool that rejects with the reason of its signal must not say by that that it had no effect. */
function abortReason(fatal: SmithersError): SmithersError {
  const { code, message, details, effect } = fatal
  return effect === undefined ? fatal : new SmithersError(code, message, { details, cause: fatal })
}

const pageSize = 1000

/** How long a closed run waits for calls that ignore their signal, in milliseconds. */
const closeGraceMs = 5_000

function runClosed(runId: string): SmithersError {
  return new SmithersError(
    'TOOL_CLOSED',
    'The run was closed, so nothing was done. To go on with it, make its next attempt: createToolRun with the same runId.',
    { details: { runId }, effect: 'none' },
  )
}
