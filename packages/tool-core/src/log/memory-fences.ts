import type { Remaining } from './memory-rows.ts'
import type { TaskAttempt } from './tool-call-log.ts'

interface Begun {
  attempt: number
  atMs: number
}

/** The newest attempt of each task that has begun, by run. */
export class MemoryFences {
  readonly #byRun = new Map<string, Map<string, Begun>>()

  begin({ runId, nodeId, iteration, attempt }: TaskAttempt): 'ok' | 'superseded' {
    const tasks = this.#byRun.get(runId)
    const task = taskKey(nodeId, iteration)
    const newest = tasks?.get(task)
    if (newest !== undefined && newest.attempt > attempt) return 'superseded'
    // No attempt comes before the first, so nothing needs to be kept of it.
    if (newest === undefined && attempt <= 1) return 'ok'
    const begun = { attempt, atMs: Date.now() }
    if (tasks === undefined) this.#byRun.set(runId, new Map([[task, begun]]))
    else tasks.set(task, begun)
    return 'ok'
  }

  /** A later attempt of the task has begun. */
  isSuperseded({ runId, nodeId, iteration, attempt }: TaskAttempt): boolean {
    if (this.#byRun.size === 0) return false
    const newest = this.#byRun.get(runId)?.get(taskKey(nodeId, iteration))
    return newest !== undefined && newest.attempt > attempt
  }

  forgetRun(runId: string): void {
    this.#byRun.delete(runId)
  }

  prune({ keptFromMs, hasRun, isOpen, isNamed }: Remaining): void {
    for (const [runId, tasks] of this.#byRun) {
      const isOld = [...tasks.values()].every(({ atMs }) => atMs < keptFromMs)
      if (isNamed(runId) || (isOld && !isOpen(runId) && !hasRun(runId))) this.forgetRun(runId)
    }
  }
}

function taskKey(nodeId: string, iteration: number): string {
  return `${iteration} ${nodeId}`
}
