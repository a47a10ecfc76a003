import { type MaybePromise, SmithersError } from '@smithers/tool-core'
import { currentOwnerId, heldHere, leaseMoment, LeaseTimer, nowOf } from '@smithers/tool-core/log'
import type {
  ClaimResult,
  Fenced,
  LeaseMoment,
  LoopRow,
  RunEnd,
  RunRow,
  RunStore,
} from '@smithers/tool-core/log'
import type { AttemptJournal } from '../task/run-attempts.ts'
import { markFatal } from '../errors/fatal-error.ts'
import { errorJson } from '../errors/error-json.ts'

/** A task whose attempts are recorded. */
export interface RecordedTask {
  readonly nodeId: string
  readonly iteration: number
  readonly taskId: string
  readonly outputName: string | null
}

/**
 * This process's lease on a run. Every write proves the lease; once it is lost, every write fails with
 * `WORKFLOW_RUN_LOST`, so that only one of two processes continues.
 */
export class RunLease {
  readonly runId: string
  readonly #runs: RunStore
  readonly #leaseToken: string
  readonly #leaseMs: number
  readonly #onLost: (error: SmithersError) => void
  readonly #renewing: NodeJS.Timeout
  readonly #end: LeaseTimer
  #isOver = false

  private constructor(
    runs: RunStore,
    lease: {
      readonly runId: string
      readonly token: string
      readonly ms: number
      readonly since: LeaseMoment
    },
    onLost: (error: SmithersError) => void,
  ) {
    this.runId = lease.runId
    this.#runs = runs
    this.#leaseToken = lease.token
    this.#leaseMs = lease.ms
    this.#onLost = onLost
    this.#end = new LeaseTimer(lease.ms, lease.since, () => void this.#endLease())
    heldHere.add(lease.token)
    this.#renewing = setInterval(() => void this.#renew(), lease.ms / 3)
    this.#renewing.unref()
  }

  /**
   * Claims the run, new or interrupted.
   *
   * @param onLost Called when another process has taken the run over, or may have.
   * @throws SmithersError `WORKFLOW_RUN_BUSY`
   */
  static async claim(
    runs: RunStore,
    request: {
      readonly runId: string
      readonly inputJson: string | null
      readonly optionsJson: string
      readonly leaseMs: number
    },
    onLost: (error: SmithersError) => void,
  ): Promise<{ readonly lease: RunLease; readonly run: RunRow; readonly created: boolean }> {
    const { runId, inputJson, optionsJson, leaseMs } = request
    const token = crypto.randomUUID()
    const since = leaseMoment()
    const nowMs = nowOf(runs)
    const claimed: ClaimResult = await runs.claim({
      runId,
      inputJson,
      optionsJson,
      ownerId: currentOwnerId(),
      leaseToken: token,
      leaseExpiresAtMs: nowMs + leaseMs,
      nowMs,
    })
    if (!claimed.ok) throw busy(claimed.run, nowMs)
    const lease = new RunLease(runs, { runId, token, ms: leaseMs, since }, onLost)
    return { lease, run: claimed.run, created: claimed.created }
  }

  nameWorkflow(workflow: string): Promise<void> {
    return this.#write(this.#runs.nameWorkflow(this.runId, this.#leaseToken, workflow))
  }

  saveLoop(row: Omit<LoopRow, 'runId'>): Promise<void> {
    return this.#write(this.#runs.saveLoop({ ...row, runId: this.runId }, this.#leaseToken))
  }

  journalOf(task: RecordedTask): AttemptJournal {
    const { nodeId, iteration, taskId, outputName } = task
    const address = { runId: this.runId, leaseToken: this.#leaseToken, nodeId, iteration }
    const end = { ...address, outputJson: null, errorJson: null }
    return {
      start: (attempt) =>
        this.#write(
          this.#runs.startAttempt({
            ...address,
            taskId,
            outputName,
            attempt,
            nowMs: nowOf(this.#runs),
          }),
        ),
      end: (attempt, { outputJson }) =>
        this.#write(
          this.#runs.finishAttempt({
            ...end,
            attempt,
            status: 'finished',
            outputJson,
            nowMs: nowOf(this.#runs),
          }),
        ),
      fail: (attempt, error, status) =>
        this.#write(
          this.#runs.finishAttempt({
            ...end,
            attempt,
            status,
            errorJson: errorJson(error),
            nowMs: nowOf(this.#runs),
          }),
        ),
    }
  }

  /** Releases the run with a status. Does nothing when this process no longer holds it. */
  async release(status: RunEnd['status'], error?: unknown): Promise<void> {
    this.#letGo()
    await this.#runs.release({
      runId: this.runId,
      leaseToken: this.#leaseToken,
      status,
      errorJson: error === undefined ? null : errorJson(error),
      nowMs: nowOf(this.#runs),
    })
  }

  #letGo(): void {
    this.#isOver = true
    clearInterval(this.#renewing)
    this.#end.stop()
    heldHere.delete(this.#leaseToken)
  }

  async #write(answer: MaybePromise<Fenced>): Promise<void> {
    if ((await answer) === 'lost') throw this.#lost()
  }

  #askForMore(): MaybePromise<Fenced> {
    const expiresAtMs = nowOf(this.#runs) + this.#leaseMs
    return this.#runs.renew(this.runId, this.#leaseToken, expiresAtMs)
  }

  async #renew(): Promise<void> {
    const since = leaseMoment()
    let answer: Fenced
    try {
      answer = await this.#askForMore()
    } catch {
      // The log may answer next time. Until the lease expires, no other process can take the run.
      return
    }
    if (this.#isOver) return
    if (answer === 'ok') this.#end.confirm(since)
    else this.#giveUp()
  }

  /**
   * The last lease that was confirmed has ended, while the log did not answer or this process was stopped. A log that
   * answers at once is asked once more; another one has had its time, since another process may have the run.
   */
  async #endLease(): Promise<void> {
    const since = leaseMoment()
    try {
      const answer = this.#askForMore()
      if (answer === 'ok') {
        this.#end.confirm(since)
        return
      }
      this.#giveUp()
      await answer
    } catch {
      if (!this.#isOver) this.#giveUp()
    }
  }

  #giveUp(): void {
    this.#letGo()
    this.#onLost(this.#lost())
  }

  #lost(): SmithersError {
    return markFatal(
      new SmithersError(
        'WORKFLOW_RUN_LOST',
        `Run "${this.runId}" is no longer held by this process: its lease expired and another process may have resumed it. This process stopped working on it.`,
        { details: { runId: this.runId } },
      ),
    )
  }
}

function busy(run: RunRow, nowMs: number): SmithersError {
  const { runId, ownerId, leaseExpiresAtMs } = run
  const seconds = Math.ceil(((leaseExpiresAtMs ?? nowMs) - nowMs) / 1000)
  return new SmithersError(
    'WORKFLOW_RUN_BUSY',
    `Run "${runId}" is running in another process (${ownerId ?? 'unknown'}). Wait for it, or stop it and then resume. On this host a process holds its run as long as it lives; one on another host loses it after ${seconds} s without a sign of life.`,
    { details: { runId, ownerId, leaseExpiresAtMs } },
  )
}
