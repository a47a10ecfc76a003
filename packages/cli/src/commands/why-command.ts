import { nowOf } from '@smithers/tool-core/log'
import type { Command } from 'commander'
import { collectRows } from '../log/all-rows.ts'
import { runValues, taskValues } from '../documents/documents.ts'
import { logPathOf } from '../log/log-path.ts'
import { openExistingLog } from '../log/open-log.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { CallsRecord } from '../runs/explain-calls.ts'
import type { RunRecord } from '../runs/explain-run.ts'
import { logArgument } from '../terminal/log-argument.ts'
import { logOption } from './log-option.ts'

/** Adds `smithers why`: explains what a run waits for, or why it failed. */
export function addWhyCommand(program: Command, terminal: Terminal): void {
  program
    .command('why')
    .summary('explain what a run waits for, or why it failed')
    .description(
      'Explains in one paragraph what a run waits for or why it failed, which effects are unknown, and how to resume it.',
    )
    .argument('<run>', 'the name of the run')
    .addOption(logOption())
    .option('--json', 'print one JSON document: state, tasks, waiting and blocked calls, the text')
    .action((runId: string, options: WhyOptions) =>
      explain(runId, options, terminal, {
        hasRun: hasCommand(program, 'run'),
        hasResume: hasCommand(program, 'resume'),
      }),
    )
}

/** Commands that go on with a run: programs that build on this one may add them. */
interface Continuing {
  readonly hasRun: boolean
  readonly hasResume: boolean
}

function hasCommand(program: Command, name: string): boolean {
  return program.commands.some((command) => command.name() === name)
}

interface WhyOptions {
  readonly log?: string
  readonly json?: true
}

async function explain(
  runId: string,
  { log: given, json }: WhyOptions,
  terminal: Terminal,
  { hasRun, hasResume }: Continuing,
): Promise<void> {
  const [{ knownRun }, { waitingCalls }] = await Promise.all([
    import('../runs/known-run.ts'),
    import('../runs/paused-run.ts'),
  ])
  const path = logPathOf(given)
  const log = await openExistingLog(path)
  try {
    const calls = await collectRows(log, { runId })
    const waits = await waitingCalls(log, runId, path)
    const [first] = await log.runs.list({ runId })
    const nowMs = nowOf(log)
    const answer =
      first === undefined && calls.length > 0
        ? await ofCalls({ runId, calls, waits, hasRun }, nowMs)
        : await ofWorkflow(
            {
              run: await knownRun(log, runId, path),
              tasks: await log.runs.tasks(runId),
              calls,
              waits,
              logArgument: logArgument(path),
              hasResume,
            },
            nowMs,
          )
    if (json === true) terminal.json(answer)
    else terminal.line(printable(answer.text))
  } finally {
    await log.close()
  }
}

/** What `--json` prints. */
interface Explanation {
  readonly runId: string
  readonly text: string
}

async function ofCalls(record: CallsRecord, nowMs: number): Promise<Explanation> {
  const { explainCalls } = await import('../runs/explain-calls.ts')
  const { runId, waits } = record
  return {
    type: 'explanation',
    runId,
    waits,
    text: explainCalls(record, nowMs),
  } as Explanation
}

async function ofWorkflow(record: RunRecord, nowMs: number): Promise<Explanation> {
  const [{ explainRun, resumeCommand, runState }, { blockedCalls }] = await Promise.all([
    import('../runs/explain-run.ts'),
    import('../log/blocked-calls.ts'),
  ])
  const { run, tasks, calls, waits } = record
  const state = runState(run, waits.length, nowMs)
  const over = state === 'finished' || state === 'running'
  return {
    type: 'explanation',
    ...runValues(run),
    state,
    tasks: tasks.map(taskValues),
    waits,
    blocked: over ? [] : blockedCalls(calls),
    resume: over ? null : resumeCommand(record),
    text: explainRun(record, nowMs),
  } as Explanation
}
