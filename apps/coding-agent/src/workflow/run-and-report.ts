import { isSmithersError, type OnApproval } from '@smithers/tool-core'
import { runWorkflow, type RunWorkflowOptions } from '@smithers/workflow'
import { observeCalls } from '../agent/observe-calls.ts'
import { isPaused, pausedFailure, waitingCalls } from '@smithers/cli/src/runs/paused-run.ts'
import { badInput, CommandFailure, exitCodes } from '@smithers/cli/src/errors/command-failure.ts'
import { logArgument } from '@smithers/cli/src/terminal/log-argument.ts'
import { describeError } from '@smithers/cli/src/errors/describe-error.ts'
import { openLogForRun } from '@smithers/cli/src/log/open-log.ts'
import { shellWord } from '@smithers/cli/src/terminal/shell-word.ts'
import type { WorkflowReporter } from '../terminal/workflow-reporter.ts'
import type { LoadedWorkflow } from './load-workflow.ts'
import { ownerText } from '@smithers/cli/src/runs/owner-text.ts'

/** The options of a run that the user chooses. */
export type WorkflowFileOptions = Omit<
  RunWorkflowOptions,
  'runId' | 'log' | 'signal' | 'onEvent' | 'onApproval'
>

/** A workflow to run or to resume. */
export interface WorkflowRunOptions {
  readonly loaded: LoadedWorkflow
  readonly runId: string
  readonly logPath: string
  readonly options: WorkflowFileOptions
  readonly reporter: WorkflowReporter
  /** Decides about calls that need approval; without it the run pauses. */
  readonly onApproval: OnApproval | undefined
  readonly interrupted: AbortSignal
}

const inputCodes: ReadonlySet<string> = new Set(['INVALID_INPUT', 'WORKFLOW_CHANGED'])

/** Runs a workflow from a file and reports its progress. */
export async function runAndReport(run: WorkflowRunOptions): Promise<void> {
  const { loaded, runId, logPath, options, reporter, onApproval, interrupted } = run
  const log = await openLogForRun(logPath)
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
    if (isSmithersError(error) && inputCodes.has(error.code)) {
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

/** An error for people: without the advice to resume, which was printed as a command, and with readable process ids. */
function withoutIds(error: unknown): string {
  const message = describeError(error).replace(/ Resume with runId ".*"\.(?= \(\w+\)$)/, '')
  const ownerId = isSmithersError(error) ? error.details['ownerId'] : undefined
  return typeof ownerId === 'string' ? message.replace(ownerId, ownerText(ownerId)) : message
}
