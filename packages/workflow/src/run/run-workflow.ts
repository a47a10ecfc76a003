import { disownError, SmithersError, traceWork } from '@smithers/tool-core'
import { boundedLog, nowOf, type RunEnd } from '@smithers/tool-core/log'
import type { WorkflowDefinition } from '../define/workflow-definition.ts'
import { isPaused } from '../errors/paused.ts'
import { logOfRun } from '../task/log-of-run.ts'
import {
  assertRunnable,
  folderOf,
  type LoggedRunOptions,
  prepareRun,
  type PreparedRun,
} from './prepare-run.ts'
import { addAttemptsOfLog, restoreRun, type RunProgress } from './restore-run.ts'
import { resumableError } from './resumable-error.ts'
import { recordedInput } from './run-input.ts'
import { RunLease } from './run-lease.ts'
import type { RunWorkflowOptions, WorkflowResult } from './run-options.ts'
import { WorkflowRun } from './workflow-run.ts'

/**
 * Runs a workflow to its end, or resumes it. Given the id of a run in its log, finished tasks are not run again, and an
 * interrupted task begins its next attempt, with a warning of what earlier attempts may have done.
 *
 * A run that has begun can be resumed after any error, with the id in `details.runId`.
 *
 * @throws SmithersError `INVALID_INPUT` for options and input; `WORKFLOW_INVALID` for the workflow itself;
 *   `WORKFLOW_CHANGED` when the workflow has changed since the run began; `WORKFLOW_RUN_BUSY` while another process holds the run; `WORKFLOW_RUN_LOST` when another process took it over;
 *   `WORKFLOW_STOPPED` when `signal` was aborted; `TASK_FAILED`, `TASK_OUTPUT_INVALID` or `TASK_TIMEOUT` for a task.
 */
export async function runWorkflow<Input, Outputs extends object>(
  workflow: WorkflowDefinition<Input, Outputs>,
  options: RunWorkflowOptions<Input> = {},
): Promise<WorkflowResult<Outputs>> {
  try {
    assertRunnable(workflow, options)
    const opened = await logOfRun(options.log, folderOf(workflow))
    try {
      return await runPreparedWorkflow(workflow, { ...options, log: opened.log })
    } finally {
      await opened.release()
    }
  } catch (error) {
    throw disownError(error)
  }
}

async function runPreparedWorkflow<Outputs extends object>(
  workflow: WorkflowDefinition<never, Outputs>,
  options: LoggedRunOptions,
): Promise<WorkflowResult<Outputs>> {
  const prepared = await prepareRun(workflow, options)
  const { runId, runs, signal, emit } = prepared
  if (prepared.recorded?.status === 'finished') {
    return resultOf(runId, await restoreRun(runs, runId, workflow.outputs))
  }
  const ending = new AbortController()
  const claim = await RunLease.claim(runs, prepared, (error) => ending.abort(error))
  const { lease } = claim
  const stop = (): void => ending.abort(stopped(runId, signal?.reason))
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted === true) stop()
  try {
    const { telemetry } = prepared.toolOptions
    const work = { kind: 'workflow', name: claim.run.workflow, runId } as const
    const progress = await traceWork(telemetry, work, (onName) =>
      driveRun(prepared, claim, ending, onName),
    )
    await lease.release('finished')
    emit({ type: 'run-end', runId })
    return resultOf(runId, progress)
  } catch (error) {
    const failure = resumableError(error, runId)
    // A log that fails now must not hide the failure; the lease expires by itself.
    await lease.release(statusAfter(failure), failure).catch(() => {})
    emit({ type: 'run-error', runId, error: failure })
    throw failure
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Restores the progress of a claimed run and runs every task that is left. */
async function driveRun(
  prepared: PreparedRun,
  { lease, created, run }: Awaited<ReturnType<typeof RunLease.claim>>,
  ending: AbortController,
  onName: (name: string) => void,
): Promise<RunProgress> {
  const { workflow, runId, runs, inputError, emit } = prepared
  const log = boundedLog(prepared.log, prepared.toolOptions.logTimeoutMs ?? 30_000)
  if (inputError !== null && run.inputJson === null) throw inputError
  const input = await recordedInput(workflow, run)
  // What an earlier process left running has an unknown outcome from here on.
  if (!created) await log.recover({ runId, nowMs: nowOf(prepared.log) })
  const progress = await restoreRun(runs, runId, workflow.outputs)
  // A log without runs still knows the calls of earlier attempts.
  if (created && prepared.isNamed) await addAttemptsOfLog(progress, log, runId)
  emit({
    type: 'run-start',
    runId,
    workflow: run.workflow,
    resumed: !created && prepared.hasBegun,
    finishedTasks: progress.finished.size,
  })
  const { toolOptions, allow, backoffMs } = prepared
  await new WorkflowRun({
    workflow,
    input,
    lease,
    progress,
    toolOptions,
    allow,
    backoffMs,
    ending,
    emit,
    onName,
  }).finish()
  return progress
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

function statusAfter(failure: SmithersError): RunEnd['status'] {
  if (isPaused(failure)) return 'waiting'
  return failure.code === 'WORKFLOW_STOPPED' ? 'stopped' : 'failed'
}

function stopped(runId: string, reason: unknown): SmithersError {
  const why = reason instanceof Error ? reason.message : String(reason)
  return new SmithersError('WORKFLOW_STOPPED', `Run "${runId}" was stopped: ${why}`, {
    cause: reason,
  })
}
