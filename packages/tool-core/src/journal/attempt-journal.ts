import { isOrphan } from '../log/orphan.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import type { SmithersError } from '../errors/smithers-error.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { JournalPolicy } from '../contract/journal-options.ts'
import { FinalAnswer } from './final-answer.ts'
import { RunPause } from './run-pause.ts'
import { CallHistory } from '../history/call-history.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { chain, isThenable, rescue } from '../async/maybe-promise.ts'

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
  readonly policy: JournalPolicy
  readonly history: CallHistory
  readonly leases: LeaseKeeper
  /** Keys that may run again although an earlier call of theirs may stand. */
  readonly allowed: Set<string> = new Set()
  /** Ends the run when a call waits for approval. */
  readonly pause: RunPause = new RunPause((error) => this.raise(error))
  /** Whether the task has its final answer. */
  readonly finalAnswer: FinalAnswer = new FinalAnswer()
  #ordinal = 0
  #baseSeq = 0
  #opened = false
  #opening: PromiseLike<void> | undefined
  #fatal: SmithersError | undefined
  #controller: AbortController | undefined

  constructor(task: TaskContext, policy: JournalPolicy) {
    this.task = task
    this.policy = policy
    this.history = new CallHistory(policy.lineage)
    this.leases = new LeaseKeeper(task.log, policy.leaseMs, policy.onLogError)
  }

  /** Takes the next place in the attempt. Synchronous, so that the order of places is the order of calls. */
  nextOrdinal(): number {
    this.#ordinal += 1
    return this.#ordinal
  }

  /** The seq of a place; known once the journal is open. */
  seqOf(ordinal: number): number {
    return this.#baseSeq + ordinal
  }

  /** Reads what earlier calls of this task left in the log, once; again when that failed. */
  open(): MaybePromise<void> {
    if (this.#opened) return undefined
    if (this.#opening !== undefined) return this.#opening
    const reading = this.policy.startsEmpty ? undefined : this.#readEarlier()
    if (!isThenable(reading)) {
      this.#opened = true
      return undefined
    }
    this.#opening = this.#settleOpening(reading)
    return this.#opening
  }

  /** Moves the places not yet taken behind the last row of this attempt, because somebody else writes to it. */
  rebase(): MaybePromise<void> {
    const { runId, nodeId, iteration, attempt, log } = this.task
    return chain(
      log.list({ runId, nodeId, iteration, attempt, order: 'descending', limit: 1 }),
      ([last]) => {
        this.#baseSeq = Math.max(this.#baseSeq + 1, last?.seq ?? 0)
      },
    )
  }

  /** What went wrong with the run itself, so that its result must not be trusted. */
  get fatal(): SmithersError | undefined {
    return this.#fatal ?? this.pause.reason
  }

  /** Stops the run: the AI SDK would turn an error thrown by a tool into a text for the model and go on. */
  raise(error: SmithersError): void {
    this.#fatal ??= error
    this.#controller?.abort(this.#fatal)
  }

  /** Aborted when the run ends. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#fatal !== undefined) this.#controller.abort(this.#fatal)
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

  #readEarlier(before: readonly ToolCallRow[] = []): MaybePromise<void> {
    const { runId, nodeId, iteration, attempt, log } = this.task
    const after = before.at(-1)
    return chain(
      log.list({ runId, nodeId, iteration, limit: pageSize, ...(after && { after }) }),
      (page) => {
        const rows = [...before, ...page]
        if (page.length === pageSize) return this.#readEarlier(rows)
        this.history.addEarlier(rows)
        for (const row of rows) {
          if (row.attempt === attempt) this.#baseSeq = Math.max(this.#baseSeq, row.seq)
        }
        return this.#recoverOrphans(rows)
      },
    )
  }

  /** Lets the log say what is known of calls whose worker is gone: that their outcome is not. */
  #recoverOrphans(rows: readonly ToolCallRow[]): MaybePromise<void> {
    const { runId, nodeId, iteration, log } = this.task
    const nowMs = Date.now()
    if (!rows.some((row) => isOrphan(row, nowMs))) return undefined
    return rescue(
      () => chain(log.recover({ runId, nodeId, iteration, nowMs }), ignore),
      // They are treated as orphans all the same.
      this.policy.onLogError,
    )
  }
}

const pageSize = 1000

function ignore(): void {}
