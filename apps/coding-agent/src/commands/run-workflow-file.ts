import { askOnTerminal, isInteractive } from '../agent/ask-on-terminal.ts'
import { shellWord } from '../terminal/shell-word.ts'
import type { Terminal } from '../terminal/terminal.ts'
import {
  createWorkflowJsonReporter,
  createWorkflowTextReporter,
} from '../terminal/workflow-reporter.ts'
import { logArgument } from './log-option.ts'
import { loadWorkflow } from '../workflow/load-workflow.ts'
import { runAndReport, type WorkflowFileOptions } from '../workflow/run-and-report.ts'

/** What the workflow commands need from their process. */
export interface WorkflowCommandSurroundings {
  readonly terminal: Terminal
  readonly interrupted: AbortSignal
}

/** A run as a command line names it. */
interface WorkflowFileRun extends WorkflowCommandSurroundings {
  /** As the person wrote it, or as it was recorded. */
  readonly file: string
  readonly runId: string
  readonly logPath: string
  readonly json: boolean
  readonly options: WorkflowFileOptions
}

/**
 * Runs or resumes the workflow of a file: what `smithers up` and `smithers resume` end in. Whoever sits at the terminal
 * is asked about calls that need approval; without anybody the run pauses.
 */
export async function runWorkflowFile(run: WorkflowFileRun): Promise<void> {
  const { file, runId, logPath, json, options, terminal, interrupted } = run
  const loaded = await loadWorkflow(file)
  const reporter = json
    ? createWorkflowJsonReporter(terminal)
    : createWorkflowTextReporter(terminal, {
        file,
        logPath,
        resumeWith: `smithers resume ${shellWord(runId)}${logArgument(logPath)}`,
      })
  const asks = !json && isInteractive(terminal)
  await runAndReport({
    loaded,
    runId,
    logPath,
    options,
    reporter,
    onApproval: asks ? askOnTerminal(terminal, () => reporter.hold()) : undefined,
    interrupted,
  })
}
