import type { Command } from 'commander'
import { isInteractive } from '../agent/ask-on-terminal.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Adds `smithers demo`: the main job, offline. */
export function addDemoCommand(
  program: Command,
  { terminal, interrupted }: { readonly terminal: Terminal; readonly interrupted: AbortSignal },
): void {
  program
    .command('demo')
    .summary('watch a workflow repair a repository and survive a kill; needs no key and no network')
    .description(
      'A workflow of scripted models drives the real tools on a copy of a small repository with a failing test: it looks, patches, mends its patch by the error, runs the tests, meets two guards, and pays. Its process is killed while it pays, and another one resumes the run. Exits with 0 only when the tests are green, the guards have held and one payment was booked.',
    )
    .option(
      '--json',
      'print one JSON document a line: task, then the events of the run, then diff, run, call, isolation, check, left',
    )
    .action(({ json }: { readonly json?: true }) => demo(json === true, terminal, interrupted))
}

async function demo(json: boolean, terminal: Terminal, interrupted: AbortSignal): Promise<void> {
  const [{ runDemo }, { createDemoJsonReporter, createDemoTextReporter }] = await Promise.all([
    import('../demo/run-demo.ts'),
    import('../demo/demo-reporter.ts'),
  ])
  await runDemo({
    reporter: json ? createDemoJsonReporter(terminal) : createDemoTextReporter(terminal),
    interactive: !json && isInteractive(terminal),
    json,
    interrupted,
  })
}
