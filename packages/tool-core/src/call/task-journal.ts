import type { MaybePromise } from '../log/tool-call-log.ts'
import type { TaskContext } from '../tool-context.ts'
import type { JournalPolicy } from './journal-policy.ts'
import { isThenable } from './maybe-promise.ts'

const journalKey: unique symbol = Symbol.for('smithers.tool.journal') as never

/** Gives a context the journal that all calls made with it share. Not enumerable: a spread copy is a new task. */
export function attachJournal(context: TaskContext, policy: JournalPolicy): void {
  Object.defineProperty(context, journalKey, { value: new TaskJournal(context, policy) })
}

export function hasJournal(value: unknown): boolean {
  return typeof value === 'object' && value !== null && journalKey in value
}

export function journalOf(context: TaskContext): TaskJournal {
  return (context as unknown as { readonly [journalKey]: TaskJournal })[journalKey]
}

/** What the calls of one attempt of a task share. */
export class TaskJournal {
  readonly task: TaskContext
  readonly policy: JournalPolicy
  #ordinal = 0
  #baseSeq = 0
  #opening: MaybePromise<void> | undefined

  constructor(task: TaskContext, policy: JournalPolicy) {
    this.task = task
    this.policy = policy
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

  /** Reads what earlier calls of this task left in the log, once. */
  open(): MaybePromise<void> {
    this.#opening ??= this.rebase()
    return this.#opening
  }

  /** Moves the places not yet taken behind the last row of this attempt. */
  rebase(): MaybePromise<void> {
    if (this.task.ephemeral) return undefined
    const { runId, nodeId, iteration, attempt, log } = this.task
    const last = log.list({ runId, nodeId, iteration, attempt, order: 'descending', limit: 1 })
    const set = (rows: readonly { readonly seq: number }[]): void => {
      this.#baseSeq = rows[0]?.seq ?? 0
    }
    return isThenable(last) ? last.then(set) : set(last)
  }
}
