import type { Command } from 'commander'
import { pendingApprovals } from '@smithers/tool-core'
import { collectRows } from '../log/all-rows.ts'
import { openExistingLog } from '../log/open-log.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { defaultLog, logOption } from './log-option.ts'

/** Adds `smithers why`: what a run waits for, or why it failed. */
export function addWhyCommand(program: Command, terminal: Terminal): void {
  program
    .command('why')
    .summary('tell what a run waits for, or why it failed')
    .description(
      'Tells in one paragraph what a run of a workflow waits for, or why it failed, and which effects nobody can vouch for.',
    )
    .argument('<run>', 'the name of the run')
    .addOption(logOption())
    .action((runId: string, { log }: { readonly log: string }) => explain(runId, log, terminal))
}

async function explain(runId: string, path: string, terminal: Terminal): Promise<void> {
  const [{ knownRun, openExistingRunStore }, { explainRun }] = await Promise.all([
    import('../workflow/open-run-store.ts'),
    import('../workflow/explain-run.ts'),
  ])
  const store = openExistingRunStore(path)
  const log = openExistingLog(path)
  try {
    const run = await knownRun(store, runId, path)
    const tasks = await store.tasks(runId)
    const calls = await collectRows(log, { runId })
    const approvals = await pendingApprovals({ log, runId })
    const logArgument = path === defaultLog ? '' : ` --log ${path}`
    const record = { run, tasks, calls, approvals, logArgument }
    terminal.line(printable(explainRun(record, Date.now())))
  } finally {
    await log.close()
    await store.close()
  }
}
