import { setTimeout as pause } from 'node:timers/promises'
import { isSmithersError, type MaybePromise, SmithersError } from '@smithers/tool-core'
import type { TaskEvent } from '../events/workflow-event.ts'
import { isFatal } from '../errors/fatal-error.ts'
import { isPaused } from '../errors/paused.ts'
import type { ResolvedTask } from './resolved-task.ts'
import { type AttemptResult, runAttempt } from './run-attempt.ts'

/** Records attempts. An error of these methods ends the run. */
export interface AttemptJournal {
  start(attempt: number): MaybePromise<void>
  end(attempt: number, result: AttemptResult): MaybePromise<void>
  fail(attempt: number, error: unknown, status: 'failed' | 'interrupted'): MaybePromise<void>
}

/** The attempt that succeeded. */
export interface FinishedTask extends AttemptResult {
  readonly attempt: number
}

/**
 * Tries a task until it succeeds or its retries are used up. Each attempt starts over and is recorded before it begins.
 * From the second on, the agent is warned of what earlier attempts may have done.
 *
 * @throws SmithersError the last attempt's error if it has a code of tasks, else `TASK_FAILED` with it as the cause. An
 *   error of the run is thrown at once, whatever retries are left.
 */
export async function runAttempts(
  task: ResolvedTask,
  journal: AttemptJournal,
  emit: (event: TaskEvent) => void,
): Promise<FinishedTask> {
  const { runId, nodeId, iteration, firstAttempt, retries, signal } = task
  for (let attempt = firstAttempt; ; attempt += 1) {
    signal.throwIfAborted()
    await journal.start(attempt)
    let result: AttemptResult
    try {
      result = await runAttempt(task, attempt, emit)
    } catch (error) {
      const ended = signal.aborted || isFatal(error)
      const failures = attempt - firstAttempt + 1
      const retryInMs = ended || failures > retries ? null : backoff(task.backoffMs, failures)
      await journal.fail(
        attempt,
        error,
        signal.aborted || isPaused(error) ? 'interrupted' : 'failed',
      )
      emit({ runId, nodeId, iteration, attempt, type: 'attempt-error', error, retryInMs })
      if (signal.aborted) throw signal.reason
      if (ended) throw error
      if (retryInMs === null) throw exhausted(nodeId, failures, error)
      await pauseUnlessAborted(retryInMs, signal)
      continue
    }
    await journal.end(attempt, result)
    emit({ runId, nodeId, iteration, attempt, type: 'attempt-end', repairs: result.repairs })
    return { ...result, attempt }
  }
}

const longestPauseMs = 60_000

/** Doubles with each failure, with half of it random, so that tasks that failed together do not retry together. */
function backoff(firstMs: number, failures: number): number {
  const longest = Math.min(firstMs * 2 ** (failures - 1), longestPauseMs)
  return Math.round(longest * (0.5 + Math.random() / 2))
}

async function pauseUnlessAborted(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(delayMs, undefined, { signal })
  } catch {
    throw signal.reason
  }
}

function exhausted(nodeId: string, failures: number, error: unknown): SmithersError {
  if (isSmithersError(error) && error.code.startsWith('TASK_')) return error
  const reason = error instanceof Error ? error.message : String(error)
  const tries = failures === 1 ? 'its only attempt' : `each of ${failures} attempts`
  return new SmithersError('TASK_FAILED', `Task "${nodeId}" failed in ${tries}: ${reason}`, {
    cause: error,
    details: { nodeId, attempts: failures },
  })
}
