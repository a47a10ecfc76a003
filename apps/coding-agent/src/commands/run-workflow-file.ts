import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RunWorkflowOptions } from '@smithers/workflow'
import { askOnTerminal, isInteractive } from '../agent/ask-on-terminal.ts'
import { assertLogOutsideRoot } from '@smithers/cli/src/log/log-path.ts'
import { isPostgres } from '@smithers/cli/src/log/log-target.ts'
import { openLogForRun, type OpenLog } from '@smithers/cli/src/log/open-log.ts'
import { shellWord } from '@smithers/cli/src/terminal/shell-word.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'
import { createWorkflowJsonReporter } from '../terminal/workflow-json-reporter.ts'
import { createWorkflowTextReporter } from '../terminal/workflow-reporter.ts'
import { loadWorkflow, workflowPath } from '../workflow/load-workflow.ts'
import { ProgramGuard, type RecordedProgram } from '../workflow/program-guard.ts'
import { runAndReport, type WorkflowFileOptions } from '../workflow/run-and-report.ts'
import { logArgument } from '@smithers/cli/src/terminal/log-argument.ts'

/** What the workflow commands need from their process. */
export interface WorkflowCommandSurroundings {
  readonly terminal: Terminal
  readonly interrupted: AbortSignal
}

/** A run as named on the command line. */
interface WorkflowFileRun extends WorkflowCommandSurroundings {
  /** As the user wrote it, or as recorded. */
  readonly file: string
  readonly runId: string
  readonly logPath: string
  readonly json: boolean
  readonly acceptChangedWorkflow: boolean
  readonly options: WorkflowFileOptions
}

/**
 * Runs or resumes the workflow of a file, for `smithers up` and `smithers resume`. At a terminal the user is asked about
 * calls that need approval; otherwise the run pauses.
 */
export async function runWorkflowFile(run: WorkflowFileRun): Promise<void> {
  const { file, runId, logPath, json, acceptChangedWorkflow, terminal, interrupted } = run
  const path = workflowPath(file)
  const recorded = await recordedRun(logPath, runId)
  const rootDir = run.options.rootDir ?? recorded?.rootDir ?? dirname(realpathSync(path))
  assertLogOutsideRoot(logPath, rootDir)
  const { network } = run.options
  if (network !== undefined) {
    const { checkedIsolation } = await import('@smithers/cli/src/sandbox/host-network.ts')
    await checkedIsolation(rootDir, { network })
  }
  const guard = new ProgramGuard(path, rootDir, acceptChangedWorkflow ? undefined : recorded)
  guard.assertUnchanged(runId)
  const loaded = await loadWorkflow(file, guard)
  guard.begin()
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
    options: { ...run.options, rootDir, program: guard.files, acceptChangedWorkflow },
    reporter,
    onApproval: asks ? askOnTerminal(terminal, () => reporter.hold()) : undefined,
    interrupted,
  })
}

/** What the log knows of an earlier process of the run. */
async function recordedRun(
  logPath: string,
  runId: string,
): Promise<(RecordedProgram & { readonly rootDir: string | undefined }) | undefined> {
  const log = await openIfAny(logPath)
  if (log === undefined) return undefined
  try {
    const [row] = await log.runs.list({ runId })
    if (row === undefined) return undefined
    const { program, rootDir } = JSON.parse(row.optionsJson) as RunWorkflowOptions
    return { files: program ?? {}, startedAtMs: row.startedAtMs, rootDir }
  } finally {
    await log.close()
  }
}

/** Undefined when no log has been written yet. A schema of a database is created for the run, which comes next. */
async function openIfAny(logPath: string): Promise<OpenLog | undefined> {
  return isPostgres(logPath) || existsSync(logPath) ? await openLogForRun(logPath) : undefined
}
