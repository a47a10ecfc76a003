import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { badInput } from '../command-failure.ts'
import { openExistingLog } from '../log/open-log.ts'
import { logOption } from './log-option.ts'
import type { WorkflowCommandSurroundings } from './run-workflow-file.ts'

/** Adds `smithers resume`: goes on with a run. */
export function addResumeCommand(
  program: Command,
  surroundings: WorkflowCommandSurroundings,
): void {
  program
    .command('resume')
    .summary('go on with a run of a workflow')
    .description(
      'Goes on with a run that was stopped, was killed or failed, with its input and options. Finished tasks are not run again; an interrupted one starts its next attempt, and its agent is told what may have happened.',
    )
    .argument('<run>', 'the name of the run')
    .addOption(logOption())
    .option('--workflow <file>', 'the workflow, if its file has moved')
    .option(
      '--allow <key>',
      'let the blocked call with this key run once, although an earlier one may stand; repeatable',
      (key: string, keys: readonly string[]) => [...keys, key],
      [],
    )
    .option('--json', 'print one JSON document a line: the events of the run, then its outputs')
    .action((runId: string, options: ResumeOptions) => resume(runId, options, surroundings))
}

interface ResumeOptions {
  readonly log: string
  readonly workflow?: string
  readonly allow: readonly string[]
  readonly json?: true
}

async function resume(
  runId: string,
  options: ResumeOptions,
  surroundings: WorkflowCommandSurroundings,
): Promise<void> {
  const [{ runWorkflowFile }, { knownRun }] = await Promise.all([
    import('./run-workflow-file.ts'),
    import('../workflow/known-run.ts'),
  ])
  const log = openExistingLog(options.log)
  let recorded: string | undefined
  try {
    const { optionsJson } = await knownRun(log, runId, options.log)
    recorded = (JSON.parse(optionsJson) as { readonly source?: string }).source
  } finally {
    await log.close()
  }
  const file = options.workflow ?? recorded
  if (file === undefined) {
    throw badInput(`Run ${runId} does not say which file its workflow is in. Give --workflow FILE.`)
  }
  await checkAllowed(runId, options)
  if (options.workflow === undefined && !existsSync(file)) {
    throw badInput(`The workflow of run ${runId} is no longer at ${file}. Give --workflow FILE.`)
  }
  await runWorkflowFile({
    ...surroundings,
    file,
    runId,
    logPath: options.log,
    json: options.json === true,
    options: { allow: options.allow },
  })
}

/** A mistyped key would allow nothing, and the call would be blocked again. */
async function checkAllowed(runId: string, { allow, log: path }: ResumeOptions): Promise<void> {
  if (allow.length === 0) return
  const log = openExistingLog(path)
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
