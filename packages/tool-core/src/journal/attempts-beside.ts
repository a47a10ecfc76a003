import type { TaskContext } from '../contract/task-context.ts'
import type { CallSummary } from '../history/call-summary.ts'
import { nowOf } from '../log/log-clock.ts'
import { isOwnerGone } from '../log/process-owner.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'

/** An attempt of this process, as other attempts of the same task see it. */
export interface WorkingAttempt {
  readonly task: Pick<TaskContext, 'attempt'>
  /** When its last call began, by the count of {@link AttemptsBeside.beginCall}. */
  readonly lastCallAt: number
  readonly isCalling: boolean
  readonly isOver: boolean
}

type Attempts = ReadonlySet<WeakRef<WorkingAttempt>>

interface Shared {
  readonly attempts: Map<string, Set<WeakRef<WorkingAttempt>>>
  readonly logs: WeakMap<ToolCallLog, number>
  /** Counts calls: the clock has too few moments to tell which of two came first. */
  moment: number
  logCount: number
}

// One table for every copy of this package in the process.
const sharedKey: unique symbol = Symbol.for('smithers.tool.attempts') as never
const global = globalThis as { [sharedKey]?: Shared }
const shared: Shared = (global[sharedKey] ??= {
  attempts: new Map(),
  logs: new WeakMap(),
  moment: 0,
  logCount: 0,
})

const forgotten = new FinalizationRegistry<{ key: string; ref: WeakRef<WorkingAttempt> }>(
  ({ key, ref }) => {
    const attempts = shared.attempts.get(key)
    attempts?.delete(ref)
    if (attempts?.size === 0) shared.attempts.delete(key)
  },
)

/**
 * The other attempts that may work on a task at the same time as one attempt does: two requests that a user sent by a
 * double click, or two workers with one job. What such an attempt has done is not repeated but shared.
 */
export class AttemptsBeside {
  readonly #self: WorkingAttempt
  readonly #key: string
  #attempts: Set<WeakRef<WorkingAttempt>> | undefined
  readonly #since = (shared.moment += 1)
  readonly #log: ToolCallLog
  readonly #sinceMs: number
  /** Numbers of the attempts that were in the middle of a call when this one began. */
  readonly #metCalling: ReadonlySet<number>

  constructor(self: WorkingAttempt, task: TaskContext) {
    this.#self = self
    this.#key = keyOf(task)
    this.#log = task.log
    this.#sinceMs = nowOf(task.log)
    this.#metCalling = callingNow(shared.attempts.get(this.#key))
  }

  /** Notes that a call begins, and returns when by the count of {@link AttemptsBeside.beginCall}. */
  beginCall(): number {
    this.#attempts ??= this.#enter()
    shared.moment += 1
    return shared.moment
  }

  /** Lets others see this attempt. Not before its first call: many tasks of a workflow make none. */
  #enter(): Set<WeakRef<WorkingAttempt>> {
    const key = this.#key
    const attempts = shared.attempts.get(key) ?? new Set()
    shared.attempts.set(key, attempts)
    const ref = new WeakRef(this.#self)
    attempts.add(ref)
    forgotten.register(this.#self, { key, ref })
    return attempts
  }

  /** Whether a call of an earlier row is of an attempt that may still be working. */
  includes({ origin, attempt }: Pick<CallSummary, 'origin' | 'attempt'>): boolean {
    if (origin !== 'here') return origin === 'beside'
    if (this.#metCalling.has(attempt)) return true
    if (this.#attempts === undefined) return false
    return liveOf(this.#attempts).some(
      (other) =>
        other !== this.#self &&
        other.task.attempt === attempt &&
        !other.isOver &&
        (other.isCalling || other.lastCallAt > this.#since),
    )
  }

  /**
   * Tells for each row of the task, in the order given, where it comes from. Another process works on the task when it
   * lives and made a call less than a lease ago, or began one after this attempt.
   */
  originsOf(rows: RowOwners, ownerId: string, leaseMs: number): CallSummary['origin'][] {
    const nowMs = nowOf(this.#log)
    return rows.all.map(({ owner, startedAtMs }) => {
      if (owner === undefined) return 'past'
      if (owner.id === ownerId) return 'here'
      if (startedAtMs > this.#sinceMs) return 'beside'
      const isRecent = owner.lastActiveMs + leaseMs > nowMs
      if (!isRecent) return 'past'
      owner.isGone ??= isOwnerGone(owner.id)
      return owner.isGone ? 'past' : 'beside'
    })
  }
}

interface Owner {
  readonly id: string
  lastActiveMs: number
  isGone: boolean | undefined
}

/** Who made the rows of a task. A task may have many rows, so each owner is kept once. */
export class RowOwners {
  readonly all: { readonly owner: Owner | undefined; readonly startedAtMs: number }[] = []
  readonly #owners = new Map<string, Owner>()

  add({ ownerId, startedAtMs, finishedAtMs }: ToolCallRow): void {
    this.all.push({ owner: this.#ownerOf(ownerId, finishedAtMs ?? startedAtMs), startedAtMs })
  }

  #ownerOf(id: string | null, activeMs: number): Owner | undefined {
    if (id === null) return undefined
    const owner = this.#owners.get(id)
    if (owner !== undefined) {
      owner.lastActiveMs = Math.max(owner.lastActiveMs, activeMs)
      return owner
    }
    const added = { id, lastActiveMs: activeMs, isGone: undefined }
    this.#owners.set(id, added)
    return added
  }
}

function callingNow(attempts: Attempts | undefined): ReadonlySet<number> {
  if (attempts === undefined) return none
  const calling = liveOf(attempts).filter((other) => other.isCalling && !other.isOver)
  return new Set(calling.map(({ task: { attempt } }) => attempt))
}

const none: ReadonlySet<number> = new Set()

function liveOf(attempts: Attempts): WorkingAttempt[] {
  return [...attempts].flatMap((ref) => ref.deref() ?? [])
}

/** Of two logs on one file, the attempts work on the same task. */
function keyOf({ log, runId, nodeId, iteration }: TaskContext): string {
  let place: string | number | undefined = log.files?.[0] ?? shared.logs.get(log)
  if (place === undefined) {
    shared.logCount += 1
    place = shared.logCount
    shared.logs.set(log, place)
  }
  return JSON.stringify([place, runId, nodeId, iteration])
}
