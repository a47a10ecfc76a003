import { createSqliteLog } from '@smithers/log-sqlite'
import { createSandbox } from '@smithers/sandbox'
import type { Sandbox } from '@smithers/sandbox'
import type { ApprovalRow, OnApproval, ToolCallRow } from '@smithers/tool-core'
import { runAgent } from '../agent/run-agent.ts'
import { CommandFailure, exitCodes } from '../command-failure.ts'
import { collectRows } from '../log/all-rows.ts'
import { openExistingLog } from '../log/open-log.ts'
import type { RunReporter } from '../terminal/run-reporter.ts'
import { huntBug } from './bug-hunt.ts'
import { checkDemo } from './demo-checks.ts'
import type { DemoReporter } from './demo-reporter.ts'
import { startIssueTracker } from './issue-tracker.ts'
import { payDespiteKill } from './killed-payment.ts'
import { createSampleRepository } from './sample-repository.ts'
import type { SampleRepository } from './sample-repository.ts'
import { createScriptedModel } from './scripted-model.ts'
import type { ScriptedModel } from './scripted-model.ts'

/** What the demo needs from its command. */
export interface DemoOptions {
  readonly reporter: DemoReporter
  readonly runReporter: RunReporter
  /** Asks the person; undefined when nobody sits at the terminal. */
  readonly onApproval: OnApproval | undefined
  readonly interrupted: AbortSignal
}

/**
 * The main job without a key and without a network: a scripted model, the real tools, a real repository, a real log.
 *
 * @throws CommandFailure when anything that the demo claims is not so.
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { reporter } = options
  const repository = createSampleRepository()
  const tracker = await startIssueTracker()
  const sandbox = await createSandbox({ rootDir: repository.rootDir, warn() {} })
  try {
    const scripted = createScriptedModel(huntBug)
    const task = taskFor(tracker.url)
    reporter.introduced(task)
    await letAgentWork({ ...options, repository, scripted, task })

    reporter.changed(await patchOf(sandbox))
    const { rows, approvals } = await recorded(repository.logPath)
    reporter.recorded(rows)
    reporter.guarded(sandbox.report)

    reporter.killing()
    const paid = await payDespiteKill({
      repository,
      say: (text) => reporter.happened(text),
      interrupted: options.interrupted,
    })

    const repaired = await checkDemo({
      repository,
      sandbox,
      rows,
      approvals,
      conversation: scripted.conversation(),
      connections: tracker.connections(),
    })
    const checks = [...repaired, ...paid]
    reporter.checked(checks)
    reporter.left(repository)
    const broken = checks.filter(({ holds }) => !holds).map(({ claim }) => claim)
    if (broken.length > 0) {
      throw new CommandFailure(exitCodes.failed, `This did not hold: ${broken.join(' ')}`)
    }
  } finally {
    sandbox.close()
    await tracker.close()
  }
}

function taskFor(trackerUrl: string): string {
  return `Three friends split a bill of 100.00, and their receipts add up to 99.99. Find the bug, fix it, and show that the tests pass. Then tell the tracker at ${trackerUrl} and bring docs/price-list.txt up to date.`
}

interface AgentWork extends DemoOptions {
  readonly repository: SampleRepository
  readonly scripted: ScriptedModel
  readonly task: string
}

async function letAgentWork(work: AgentWork): Promise<void> {
  const { rootDir, logPath } = work.repository
  const log = createSqliteLog({ path: logPath })
  try {
    await runAgent({
      task: work.task,
      model: work.scripted.model,
      modelName: 'smithers/scripted',
      rootDir,
      log,
      logPath,
      runId: 'demo',
      allowNetwork: false,
      maxOutputBytes: undefined,
      timeoutMs: undefined,
      maxSteps: 20,
      ask: { tools: ['edit'], oncePerFile: true },
      onApproval: work.onApproval ?? answered(work.reporter),
      reporter: work.runReporter,
      abortSignal: work.interrupted,
    })
  } finally {
    await log.close()
  }
}

/** Stands in for the person, and says so. */
function answered(reporter: DemoReporter): OnApproval {
  return ({ approval }) => {
    reporter.approved(
      `${approval.prompt ?? approval.toolName} Approved by the demo itself: nobody sits at this terminal.`,
    )
    return { approved: true, decidedBy: 'demo' }
  }
}

async function patchOf(sandbox: Sandbox): Promise<string> {
  const { output } = await sandbox.run('git', ['diff', 'HEAD'])
  return output
}

/** The log is opened anew: what is shown was on the disk. */
async function recorded(
  logPath: string,
): Promise<{ readonly rows: ToolCallRow[]; readonly approvals: ApprovalRow[] }> {
  const log = openExistingLog(logPath)
  try {
    const rows = await collectRows(log, { runId: 'demo' })
    return { rows, approvals: (await log.approvals?.list({ runId: 'demo' })) ?? [] }
  } finally {
    await log.close()
  }
}
