import type { RunStore, ToolCallLog } from '@smithers/tool-core'
import type { RunEnd } from '@smithers/tool-core/log'
import { overridden } from './overridden.ts'

/** What a run does while a job has it. */
export interface JobWatch {
  /** This worker holds the run. */
  claimed(): Promise<void>
  /** A task has finished. */
  progressed(): void
  /** How the run shall be left, which may differ from how it ended: one that is tried again is queued. */
  leftAs(end: RunEnd): RunEnd
  /** The log has recorded how the run was left. */
  left(status: RunEnd['status']): void
}

/** The log of a worker, for one job. A run is left with its final status in one step, so a crash leaves none between. */
export function logOfJob(log: ToolCallLog, runs: RunStore, watch: JobWatch): ToolCallLog {
  return overridden(log, {
    runs: overridden(runs, {
      async claim(request) {
        const claimed = await runs.claim(request)
        if (claimed.ok) await watch.claimed()
        return claimed
      },
      async finishAttempt(end) {
        const answer = await runs.finishAttempt(end)
        if (answer === 'ok' && end.status === 'finished') watch.progressed()
        return answer
      },
      async release(end) {
        const as = watch.leftAs(end)
        const answer = await runs.release(as)
        if (answer === 'ok') watch.left(as.status)
        return answer
      },
    }),
  })
}
