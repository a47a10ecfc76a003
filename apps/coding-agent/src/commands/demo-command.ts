import type { Command } from 'commander'
import { isInteractive } from '../agent/ask-on-terminal.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'

/** Adds `smithers demo`: the main use case, offline. */
export function addDemoCommand(
  program: Command,
  { terminal, interrupted }: { readonly terminal: Terminal; readonly interrupted: AbortSignal },
): void {
  program
    .command('demo')
    .summary('watch a workflow repair a repository and survive a kill, without a key or a network')
    .description(
      'A workflow with scripted models uses the real tools on a copy of a small repository with a failing test. It finds the bug, corrects a patch that does not apply, runs the tests, is stopped by two guards, and pays. Its process is killed while it pays, and another one resumes the run. Exits with 0 only if the tests pass, both guards worked and exactly one payment was booked.',
    )
    .option(
      '--json',
      'print JSON Lines: task, then the events of the run, then diff, run, call, isolation, check, left',
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
