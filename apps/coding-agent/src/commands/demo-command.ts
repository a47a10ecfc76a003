import type { Command } from 'commander'
import { askOnTerminal, isInteractive } from '../agent/ask-on-terminal.ts'
import { createJsonReporter, createTextReporter } from '../terminal/run-reporter.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Adds `smithers demo`: the main job, offline. */
export function addDemoCommand(
  program: Command,
  { terminal, interrupted }: { readonly terminal: Terminal; readonly interrupted: AbortSignal },
): void {
  program
    .command('demo')
    .summary('watch an agent repair a repository; needs no key and no network')
    .description(
      'A scripted model drives the real tools on a copy of a small repository with a failing test: it looks, patches, mends its patch by the error, runs the tests, and meets two guards. Exits with 0 only when the tests are green and the guards have held.',
    )
    .option(
      '--json',
      'print one JSON document a line: task, then the events of a run, then diff, call, isolation, check, left',
    )
    .action(({ json }: { readonly json?: true }) => demo(json === true, terminal, interrupted))
}

async function demo(json: boolean, terminal: Terminal, interrupted: AbortSignal): Promise<void> {
  const [{ runDemo }, { createDemoJsonReporter, createDemoTextReporter }] = await Promise.all([
    import('../demo/run-demo.ts'),
    import('../demo/demo-reporter.ts'),
  ])
  const runReporter = json ? createJsonReporter(terminal) : createTextReporter(terminal)
  const asks = !json && isInteractive(terminal)
  await runDemo({
    reporter: json ? createDemoJsonReporter(terminal) : createDemoTextReporter(terminal),
    runReporter,
    onApproval: asks ? askOnTerminal(terminal, () => runReporter.hold()) : undefined,
    interrupted,
  })
}
