import { isSmithersError, type OnApproval } from '@smithers/tool-core'
import { runWorkflow, type RunWorkflowOptions } from '@smithers/workflow'
import { observeCalls } from '../agent/observe-calls.ts'
import { isPaused, pausedFailure, waitingCalls } from '../agent/paused-run.ts'
import { badInput, CommandFailure, exitCodes } from '../command-failure.ts'
import { logArgument } from '../commands/log-option.ts'
import { describeError } from '../describe-error.ts'
import { openLogForRun } from '../log/open-log.ts'
import { shellWord } from '../terminal/shell-word.ts'
import type { WorkflowReporter } from '../terminal/workflow-reporter.ts'
import type { LoadedWorkflow } from './load-workflow.ts'
import { ownerText } from './owner-text.ts'

/** What the person chooses of a workflow's run. */
export type WorkflowFileOptions = Omit<
  RunWorkflowOptions,
  'runId' | 'log' | 'signal' | 'onEvent' | 'onApproval'
>

/** A workflow to run or to go on with. */
export interface WorkflowRunOptions {
  readonly loaded: LoadedWorkflow
  readonly runId: string
  readonly logPath: string
  readonly options: WorkflowFileOptions
  readonly reporter: WorkflowReporter
  /** Answers at once; without it the run pauses. */
  readonly onApproval: OnApproval | undefined
  readonly interrupted: AbortSignal
}

/** Runs a workflow from a file with its progress on the terminal. */
export async function runAndReport(run: WorkflowRunOptions): Promise<void> {
  const { loaded, runId, logPath, options, reporter, onApproval, interrupted } = run
  const log = openLogForRun(logPath)
  const calls = observeCalls(runId, reporter)
  let began = false
  try {
    const result = await runWorkflow(loaded.workflow, {
      ...options,
      source: loaded.path,
      runId,
      log,
      signal: interrupted,
      onApproval,
      onEvent: (event) => {
        began = true
        reporter.happened(event)
      },
    } as RunWorkflowOptions<never>)
    if (!began) reporter.finishedBefore()
    reporter.finished(result.outputs)
  } catch (error) {
    if (isSmithersError(error) && error.code === 'INVALID_INPUT') {
      throw badInput(describeError(error), error)
    }
    if (isPaused(error)) {
      const waiting = await waitingCalls(log, runId, logPath)
      reporter.waits(waiting)
      throw pausedFailure(
        error,
        waiting.length,
        `smithers resume ${shellWord(runId)}${logArgument(logPath)}`,
      )
    }
    throw new CommandFailure(exitCodes.failed, withoutIds(error), { cause: error })
  } finally {
    await calls.stop()
    reporter.stop()
    await log.close()
  }
}

/** An error as a person reads it: how to resume has been said as a command, and a process is known by its number. */
function withoutIds(error: unknown): string {
  const message = describeError(error).replace(/ Resume with runId ".*"\.(?= \(\w+\)$)/, '')
  const ownerId = isSmithersError(error) ? error.details['ownerId'] : undefined
  return typeof ownerId === 'string' ? message.replace(ownerId, ownerText(ownerId)) : message
}
