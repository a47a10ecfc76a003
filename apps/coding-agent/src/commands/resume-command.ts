import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { badInput } from '@smithers/cli/src/errors/command-failure.ts'
import { logPathOf } from '@smithers/cli/src/log/log-path.ts'
import { openExistingLog } from '@smithers/cli/src/log/open-log.ts'
import { type NetworkFlags, networkOptions } from '@smithers/cli/src/sandbox/network-flags.ts'
import { logOption } from '@smithers/cli/src/commands/log-option.ts'
import { hostOptions, widerNetworkOption } from '@smithers/cli/src/commands/tool-options.ts'
import { recordContentsOption } from './record-contents-option.ts'
import type { WorkflowCommandSurroundings } from './run-workflow-file.ts'

/** Adds `smithers resume`: resumes a workflow run. */
export function addResumeCommand(
  program: Command,
  surroundings: WorkflowCommandSurroundings,
): void {
  const command = program
    .command('resume')
    .summary('resume a workflow run')
    .description(
      'Resumes a run that was stopped or killed, or that failed, with its input and options. Finished tasks are not run again; an interrupted task starts its next attempt, and its agent is warned of what may have happened.',
    )
    .argument('<run>', 'the id of the run')
    .addOption(logOption())
    .option('--workflow <file>', 'the workflow, if its file has moved')
    .option(
      '--accept-changed-workflow',
      'resume although the workflow has changed since the run began',
    )
    .option(
      '--allow <key>',
      'let the blocked call with this key run once, although an earlier call may have succeeded; repeatable',
      (key: string, keys: readonly string[]) => [...keys, key],
      [],
    )
    .addOption(widerNetworkOption())
    .addOption(recordContentsOption())
    .option('--json', 'print JSON Lines: the events of the run, then its outputs')
  for (const option of hostOptions()) command.addOption(option)
  command.action((runId: string, options: ResumeOptions) => resume(runId, options, surroundings))
}

interface ResumeOptions extends NetworkFlags {
  readonly log?: string
  readonly workflow?: string
  readonly acceptChangedWorkflow?: true
  readonly acceptWiderNetwork?: true
  readonly recordContents?: true
  readonly allow: readonly string[]
  readonly json?: true
}

async function resume(
  runId: string,
  options: ResumeOptions,
  surroundings: WorkflowCommandSurroundings,
): Promise<void> {
  const network = networkOptions(options)
  const [{ runWorkflowFile }, { knownRun }] = await Promise.all([
    import('./run-workflow-file.ts'),
    import('@smithers/cli/src/runs/known-run.ts'),
  ])
  const logPath = logPathOf(options.log)
  const log = await openExistingLog(logPath)
  let recorded: string | undefined
  try {
    const { optionsJson } = await knownRun(log, runId, logPath)
    recorded = (JSON.parse(optionsJson) as { readonly source?: string }).source
  } finally {
    await log.close()
  }
  const file = options.workflow ?? recorded
  if (file === undefined) {
    throw badInput(`Run ${runId} did not record the file of its workflow. Give --workflow FILE.`)
  }
  await checkAllowed(runId, options.allow, logPath)
  if (options.workflow === undefined && !existsSync(file)) {
    throw badInput(`The workflow of run ${runId} is no longer at ${file}. Give --workflow FILE.`)
  }
  await runWorkflowFile({
    ...surroundings,
    file,
    runId,
    logPath,
    json: options.json === true,
    acceptChangedWorkflow: options.acceptChangedWorkflow === true,
    options: {
      allow: options.allow,
      ...network,
      acceptWiderNetwork: options.acceptWiderNetwork === true,
      recordContents: options.recordContents,
    },
  })
}

/** Refuses a mistyped key, which would allow nothing: the call would be blocked again. */
async function checkAllowed(runId: string, allow: readonly string[], path: string): Promise<void> {
  if (allow.length === 0) return
  const log = await openExistingLog(path)
  try {
    for (const key of allow) {
      const [call] = await log.list({ runId, idempotencyKey: key, limit: 1 })
      if (call === undefined) {
        throw badInput(
          `Run ${runId} has no call with the key ${key}. "smithers why ${runId}" names the keys of blocked calls.`,
        )
      }
    }
  } finally {
    await log.close()
  }
}
