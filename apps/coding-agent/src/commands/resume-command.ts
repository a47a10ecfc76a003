import type { Command } from 'commander'
import { badInput } from '../command-failure.ts'
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
    .option('--json', 'print one JSON document a line: the events of the run, then its outputs')
    .action((runId: string, options: ResumeOptions) => resume(runId, options, surroundings))
}

interface ResumeOptions {
  readonly log: string
  readonly workflow?: string
  readonly json?: true
}

async function resume(
  runId: string,
  options: ResumeOptions,
  surroundings: WorkflowCommandSurroundings,
): Promise<void> {
  const [{ runWorkflowFile }, { knownRun, openExistingRunStore }] = await Promise.all([
    import('./run-workflow-file.ts'),
    import('../workflow/open-run-store.ts'),
  ])
  const store = openExistingRunStore(options.log)
  let recorded: string | undefined
  try {
    const { optionsJson } = await knownRun(store, runId, options.log)
    recorded = (JSON.parse(optionsJson) as { readonly source?: string }).source
  } finally {
    await store.close()
  }
  const file = options.workflow ?? recorded
  if (file === undefined) {
    throw badInput(`Run ${runId} does not say which file its workflow is in. Give --workflow FILE.`)
  }
  await runWorkflowFile({
    ...surroundings,
    file,
    runId,
    logPath: options.log,
    json: options.json === true,
    options: {},
  })
}
