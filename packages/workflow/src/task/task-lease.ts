import { SmithersError, type ToolCallLog } from '@smithers/tool-core'
import {
  currentOwnerId,
  heldHere,
  isAbandoned,
  isOrphan,
  leaseMoment,
  LeaseTimer,
  nowOf,
} from '@smithers/tool-core/log'
import type { LeaseMoment, RunStateStore } from '@smithers/tool-core/log'
import { markFatal } from '../errors/fatal-error.ts'

/** A task of a run whose attempts must not overlap. */
export interface LeasedTask {
  readonly log: ToolCallLog
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
}

/** This process's exclusive right to work on a task. */
export interface TaskLease {
  /** Aborted when another process has taken the task over. */
  readonly signal: AbortSignal
  release(): Promise<void>
}

interface LeaseValue {
  readonly ownerId: string
  /** Null once released. */
  readonly token: string | null
  readonly expiresAtMs: number
}

/**
 * Claims a task, so that two processes cannot work on it at once: the second attempt would repeat effects of the first,
 * which is still making them. The lease is renewed until it is released, and a dead process of this machine loses it at
 * once. With a log that keeps no state, only calls in progress are noticed.
 *
 * @throws SmithersError `WORKFLOW_RUN_BUSY` while another caller works on the task.
 */
export async function claimTask(task: LeasedTask, leaseMs: number): Promise<TaskLease> {
  const { log, runId, nodeId, iteration } = task
  const { state } = log
  const claimed = state === undefined ? null : await StoredLease.claim(state, task, leaseMs)
  const query = { runId, nodeId, iteration, status: 'started' } as const
  const running = (await log.list(query)).find((row) => !isOrphan(row, nowOf(log)))
  if (running !== undefined) {
    await claimed?.release()
    throw busy(task, running.ownerId ?? 'unknown')
  }
  return claimed ?? { signal: new AbortController().signal, release: async () => {} }
}

class StoredLease implements TaskLease {
  readonly #state: RunStateStore
  readonly #task: LeasedTask
  readonly #leaseMs: number
  readonly #token: string
  readonly #lost = new AbortController()
  readonly #renewing: NodeJS.Timeout
  readonly #end: LeaseTimer
  #isOver = false
  #isRenewing = false
  #version: number

  private constructor(
    state: RunStateStore,
    task: LeasedTask,
    leaseMs: number,
    claimed: { readonly token: string; readonly version: number; readonly since: LeaseMoment },
  ) {
    this.#state = state
    this.#task = task
    this.#leaseMs = leaseMs
    this.#token = claimed.token
    this.#version = claimed.version
    this.#renewing = setInterval(() => void this.#renew(), leaseMs / 3)
    this.#renewing.unref()
    this.#end = new LeaseTimer(leaseMs, claimed.since, () => this.#giveUp())
    heldHere.add(this.#token)
  }

  static async claim(state: RunStateStore, task: LeasedTask, leaseMs: number): Promise<TaskLease> {
    const token = crypto.randomUUID()
    for (;;) {
      const entry = await state.get(task.runId, keyOf(task))
      const value = entry === undefined ? null : (JSON.parse(entry.valueJson) as LeaseValue)
      if (value !== null && isHeld(value, nowOf(task.log))) throw busy(task, value.ownerId)
      const version = (entry?.version ?? 0) + 1
      const since = leaseMoment()
      if (await state.set(entryOf(task, version, { token, leaseMs }))) {
        return new StoredLease(state, task, leaseMs, { token, version, since })
      }
    }
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  async release(): Promise<void> {
    // A lease that was lost is no longer ours to end, and the log may still not answer.
    if (this.#lost.signal.aborted) return
    this.#letGo()
    // Another process has the task if this fails.
    await this.#state.set(entryOf(this.#task, this.#version + 1, { token: null, leaseMs: 0 }))
  }

  #letGo(): void {
    this.#isOver = true
    clearInterval(this.#renewing)
    this.#end.stop()
    heldHere.delete(this.#token)
  }

  async #renew(): Promise<void> {
    // A log that is slow to answer gets one renewal at a time: two would look like two holders.
    if (this.#isRenewing || this.#isOver) return
    this.#isRenewing = true
    try {
      if (!(await this.#prolong())) this.#giveUp()
    } catch {
      // The log may answer next time. Until the lease expires, no other process can take the task.
    } finally {
      this.#isRenewing = false
    }
  }

  /** False when another process has taken the task. */
  async #prolong(): Promise<boolean> {
    const since = leaseMoment()
    const next = entryOf(this.#task, this.#version + 1, {
      token: this.#token,
      leaseMs: this.#leaseMs,
    })
    if (await this.#state.set(next)) {
      this.#version += 1
      if (!this.#isOver) this.#end.confirm(since)
      return true
    }
    // An earlier renewal may have been stored although its answer was lost.
    const entry = await this.#state.get(this.#task.runId, keyOf(this.#task))
    if (entry === undefined) return false
    if ((JSON.parse(entry.valueJson) as LeaseValue).token !== this.#token) return false
    this.#version = entry.version
    return true
  }

  #giveUp(): void {
    this.#letGo()
    this.#lost.abort(lost(this.#task))
  }
}

function isHeld({ ownerId, token, expiresAtMs }: LeaseValue, nowMs: number): boolean {
  return token !== null && !isAbandoned(ownerId, token, expiresAtMs, nowMs)
}

function keyOf({ nodeId, iteration }: LeasedTask): string {
  return `smithers.task-lease ${iteration} ${nodeId}`
}

function entryOf(
  task: LeasedTask,
  version: number,
  { token, leaseMs }: { readonly token: string | null; readonly leaseMs: number },
): Parameters<RunStateStore['set']>[0] {
  const nowMs = nowOf(task.log)
  const value: LeaseValue = { ownerId: currentOwnerId(), token, expiresAtMs: nowMs + leaseMs }
  return {
    runId: task.runId,
    key: keyOf(task),
    version,
    valueJson: JSON.stringify(value),
    updatedAtMs: nowMs,
  }
}

function busy({ runId, nodeId }: LeasedTask, ownerId: string): SmithersError {
  return new SmithersError(
    'WORKFLOW_RUN_BUSY',
    `Task "${nodeId}" of run "${runId}" is running in another process or another call of runTask (${ownerId}). Wait for it, or stop it and call runTask again.`,
    { details: { runId, nodeId, ownerId }, effect: 'none' },
  )
}

function lost({ runId, nodeId }: LeasedTask): SmithersError {
  return markFatal(
    new SmithersError(
      'WORKFLOW_RUN_LOST',
      `Task "${nodeId}" of run "${runId}" is no longer held by this process: its lease expired and another process took it over. This process stopped working on it.`,
      { details: { runId, nodeId } },
    ),
  )
}
