import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandbox } from '@smithers/sandbox'
import type { Sandbox } from '@smithers/sandbox'
import { CommandFailure, exitCodes } from '@smithers/cli/src/errors/command-failure.ts'
import { checkDemo } from './demo-checks.ts'
import type { DemoReporter } from './demo-reporter.ts'
import { startIssueTracker } from './issue-tracker.ts'
import { runDespiteKill } from './killed-run.ts'
import { startPaymentServer } from './payment-server.ts'
import { checkRun } from './run-checks.ts'
import { createSampleRepository } from './sample-repository.ts'

/** What the demo needs from its command. */
export interface DemoOptions {
  readonly reporter: DemoReporter
  /** A user is at the terminal. */
  readonly interactive: boolean
  readonly json: boolean
  readonly interrupted: AbortSignal
}

/**
 * The main use case without a key and without a network: scripted models with the real tools, a real repository, a real
 * log and a real kill.
 *
 * @throws CommandFailure when a claim of the demo does not hold.
 */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { reporter } = options
  const repository = createSampleRepository()
  const tracker = await startIssueTracker()
  const server = await startPaymentServer()
  const sandbox = await createSandbox({ rootDir: repository.rootDir, warn() {} })
  try {
    reporter.introduced(
      'Three friends split a bill of 100.00, and their receipts add up to 99.99. One workflow finds the bug, repairs it, shows that the tests pass, and pays the first share. Its process is killed while it pays.',
    )
    const transcript = join(repository.folder, 'conversation.jsonl')
    const run = await runDespiteKill({
      ...options,
      repository,
      server,
      input: {
        order: 'dinner-42',
        totalCents: 10_000,
        people: 3,
        trackerUrl: tracker.url,
        paymentUrl: server.url,
        transcript,
      },
    })
    reporter.changed(await patchOf(sandbox))
    const { runs, rows, approvals } = run.afterResume
    reporter.recorded(runs, rows)
    reporter.guarded(sandbox.report)
    const repaired = await checkDemo({
      repository,
      sandbox,
      rows,
      approvals,
      conversation: existsSync(transcript) ? readFileSync(transcript, 'utf8') : '',
      connections: tracker.connections(),
    })
    const checks = [...repaired, ...checkRun(run, server.payments())]
    reporter.checked(checks)
    reporter.left(repository)
    const broken = checks.filter(({ holds }) => !holds).map(({ claim }) => claim)
    if (broken.length > 0) {
      throw new CommandFailure(exitCodes.failed, `This did not hold: ${broken.join(' ')}`)
    }
  } finally {
    await sandbox.close()
    await server.close()
    await tracker.close()
  }
}

async function patchOf(sandbox: Sandbox): Promise<string> {
  const { output } = await sandbox.run('git', ['diff', 'HEAD'])
  return output
}
