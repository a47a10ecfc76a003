import { isSmithersError, SmithersError } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { isWorkflow, type WorkflowDefinition } from '../define/create-smithers.ts'
import { toleratingListener } from '../events/tolerating-listener.ts'
import { allowedKeys } from '../task/allowed-keys.ts'
import { checkedContext } from '../task/checked-context.ts'
import { isPaused } from '../errors/paused.ts'
import { RunLease } from './run-lease.ts'
import { addAttemptsOfLog, restoreRun, type RunProgress } from './restore-run.ts'
import { assertSameInput, givenInput, parseInput, recordedInput } from './run-input.ts'
import {
  mergeOptions,
  optionsForTools,
  type RecordedOptions,
  type RunWorkflowOptions,
  type WorkflowResult,
} from './run-options.ts'
import { WorkflowRun } from './workflow-run.ts'

/**
 * Runs a workflow to its end, or resumes it: with the id of a run in `log`, tasks that have finished are not run
 * again, and an interrupted one begins its next attempt, warned of what the earlier ones may have done.
 *
 * Whatever a run that has begun is rejected with, it can be resumed with its id: `details.runId` of the error.
 *
 * @throws SmithersError `INVALID_INPUT` for options and input; `WORKFLOW_INVALID` for the workflow itself;
 *   `WORKFLOW_RUN_BUSY` while another process has the run; `WORKFLOW_RUN_LOST` when another has taken it;
 *   `WORKFLOW_STOPPED` when `signal` was aborted; `TASK_FAILED`, `TASK_OUTPUT_INVALID` or `TASK_TIMEOUT` for a task.
 */
export async function runWorkflow<Input, Outputs extends object>(
  workflow: WorkflowDefinition<Input, Outputs>,
  options: RunWorkflowOptions<Input> = {},
): Promise<WorkflowResult<Outputs>> {
  if (!isWorkflow(workflow)) {
    throw new SmithersError('INVALID_INPUT', 'runWorkflow needs what smithers(…) returned.')
  }
  const {
    input,
    runId = crypto.randomUUID(),
    log = createMemoryLog(),
    backoffMs = 1000,
    signal,
    onEvent,
  } = options
  const runs = log.runs ?? createMemoryLog().runs
  const allow = allowedKeys(options.allow)
  const emit = toleratingListener(onEvent)
  const [known] = await runs.list({ runId })
  const recorded = (known === undefined ? {} : JSON.parse(known.optionsJson)) as RecordedOptions
  const merged = mergeOptions(options, {
    rootDir: workflow.directory ?? process.cwd(),
    ...recorded,
  })
  const toolOptions = { ...optionsForTools({ ...options, ...merged }), log }
  // Checked before anything is recorded; a wrong option is the caller's and not the run's.
  const { rootDir } = checkedContext({ ...toolOptions, runId })
  assertSameInput(input, known)
  if (known?.status === 'finished') {
    const progress = await restoreRun(runs, runId, workflow.outputs)
    return resultOf(runId, progress)
  }
  const given = givenInput(input)
  // What no resume could mend begins no run.
  if ((known?.inputJson ?? null) === null && given.json !== null) {
    await parseInput(workflow, JSON.parse(given.json))
  }

  const ending = new AbortController()
  const { lease, created, run } = await RunLease.claim(
    runs,
    {
      runId,
      inputJson: given.json,
      optionsJson: JSON.stringify({ ...merged, rootDir }),
      leaseMs: options.leaseMs ?? 60_000,
    },
    (error) => ending.abort(error),
  )
  const stop = (): void => ending.abort(stopped(runId, signal?.reason))
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted === true) stop()
  try {
    if (given.error !== null && run.inputJson === null) throw given.error
    const parsed = await recordedInput(workflow, run)
    // What the process before left running has an unknown outcome from here on.
    if (!created) await log.recover({ runId, nowMs: Date.now() })
    const progress = await restoreRun(runs, runId, workflow.outputs)
    // A log without runs still knows the calls of earlier attempts.
    if (created && options.runId !== undefined) await addAttemptsOfLog(progress, log, runId)
    emit({
      type: 'run-start',
      runId,
      workflow: run.workflow,
      resumed: !created,
      finishedTasks: progress.finished.size,
    })
    await new WorkflowRun({
      workflow,
      input: parsed,
      lease,
      progress,
      toolOptions: { ...toolOptions, rootDir },
      allow,
      backoffMs,
      ending,
      emit,
    }).finish()
    await lease.release('finished')
    emit({ type: 'run-end', runId })
    return resultOf(runId, progress)
  } catch (error) {
    const failure = resumable(error, runId)
    const stops = failure.code === 'WORKFLOW_STOPPED' || isPaused(failure)
    // A log that fails now must not hide the failure; the lease expires by itself.
    await lease.release(stops ? 'stopped' : 'failed', failure).catch(() => {})
    emit({ type: 'run-error', runId, error: failure })
    throw failure
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

function resultOf<Outputs extends object>(
  runId: string,
  progress: RunProgress,
): WorkflowResult<Outputs> {
  return {
    runId,
    status: 'finished',
    outputs: progress.outputs.newest() as WorkflowResult<Outputs>['outputs'],
    tasks: progress.tasks,
  }
}

function stopped(runId: string, reason: unknown): SmithersError {
  const why = reason instanceof Error ? reason.message : String(reason)
  return new SmithersError('WORKFLOW_STOPPED', `Run "${runId}" was stopped: ${why}`, {
    cause: reason,
  })
}

/** The error with the id of the run, which whoever resumes it needs. */
function resumable(error: unknown, runId: string): SmithersError {
  const details = { ...(isSmithersError(error) ? error.details : {}), runId }
  const message = error instanceof Error ? error.message : String(error)
  const code = isSmithersError(error) ? error.code : 'TASK_FAILED'
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`
  return new SmithersError(code, `${sentence} Resume with runId "${runId}".`, {
    details,
    cause: isSmithersError(error) && error.cause !== undefined ? error.cause : error,
  })
}
