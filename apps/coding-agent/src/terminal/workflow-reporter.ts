import type { Violation } from '@smithers/sandbox'
import type { WorkflowEvent } from '@smithers/workflow'
import { isPaused, type WaitingCall } from '../agent/paused-run.ts'
import { describeError } from '../describe-error.ts'
import type { EndedCall, StartedCall } from './call-line.ts'
import { duration, endedCallLine, runningCallLine } from './call-line.ts'
import { createLiveLines } from './live-lines.ts'
import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'
import { waitingLines } from './waiting-lines.ts'

/** Tells a person or a program what a workflow does, as it happens. */
export interface WorkflowReporter {
  happened(event: WorkflowEvent): void
  callStarted(call: StartedCall): void
  callEnded(call: EndedCall): void
  /** The sandbox undid what a command did to a protected name, or a command met a limit. */
  violationFound(violation: Violation): void
  /** The run had finished before: nothing is run. */
  finishedBefore(): void
  finished(outputs: object): void
  /** The run is paused: these calls wait for somebody. */
  waits(calls: readonly WaitingCall[]): void
  /** Leaves the terminal to a question until the returned function is called. */
  hold(): () => void
  /** Nothing will be told any more. */
  stop(): void
}

/** One line a task and one a call; what runs is redrawn in place on a terminal. */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createWorkflowTextReporter(
  terminal: Terminal,
  facts: { readonly file: string; readonly logPath: string; readonly resumeWith: string },
): WorkflowReporter {
  const { colors } = terminal
  const lines = createLiveLines(terminal)
  const startedAt = performance.now()
  const taskStarts = new Map<string, number>()
  const say = (text: string): void => lines.line(printable(text))
  return {
    happened(event) {
      switch (event.type) {
        case 'task-start': {
          const begun = performance.now()
          const name = taskName(event)
          taskStarts.set(name, begun)
          lines.start(name, () => `▸ ${name}  ${colors.dim(duration(performance.now() - begun))}`)
          return
        }
        case 'task-end': {
          const name = taskName(event)
          const took = duration(performance.now() - (taskStarts.get(name) ?? startedAt))
          lines.end(name, `${colors.green('✓')} ${colors.bold(name)}  ${colors.dim(took)}`)
          return
        }
        case 'task-error': {
          const name = taskName(event)
          const text = isPaused(event.error)
            ? `${colors.yellow('‖')} ${colors.bold(name)}  waits for approval`
            : `${colors.red('✗')} ${colors.bold(name)}`
          lines.end(name, text)
          return
        }
        default:
          for (const text of linesOf(event, colors, facts)) lines.line(text)
      }
    },
    callStarted(call) {
      const begun = performance.now()
      lines.start(call.id, () => `  ${runningCallLine(call, performance.now() - begun, colors)}`)
    },
    callEnded(call) {
      lines.end(call.id, `  ${endedCallLine(call, colors)}`)
    },
    violationFound({ message }) {
      lines.line(colors.yellow(`  sandbox: ${printable(message)}`))
    },
    finishedBefore() {
      lines.line('This run has finished already; nothing was run again.')
    },
    finished(outputs) {
      lines.line(colors.dim(`\ndone in ${duration(performance.now() - startedAt)}`))
      say(JSON.stringify(outputs, null, 2))
    },
    waits(calls) {
      lines.line(`\n${waitingLines(calls, colors)}`)
    },
    hold: () => lines.hold(),
    stop: () => lines.stop(),
  }
}

/** What an event prints that does not change what is redrawn in place. */
function linesOf(
  event: WorkflowEvent,
  colors: Terminal['colors'],
  facts: { readonly file: string; readonly logPath: string; readonly resumeWith: string },
): readonly string[] {
  switch (event.type) {
    case 'run-start': {
      const again = event.resumed
        ? `  resumed, ${event.finishedTasks} ${event.finishedTasks === 1 ? 'task' : 'tasks'} done`
        : ''
      return [
        `${colors.bold(printable(event.runId))}  ${printable(facts.file)}${again}`,
        colors.dim(`log  ${printable(facts.logPath)}`),
      ]
    }
    case 'attempt-start': {
      const told = 'the agent is told what may have happened before'
      return event.warned
        ? [colors.yellow(`! ${taskName(event)}  attempt ${event.attempt}: ${told}`)]
        : []
    }
    case 'text':
      return [colors.dim(printable(`      “${event.text.trim().replaceAll('\n', '\n       ')}”`))]
    case 'repair':
      return [printable(`↺ ${taskName(event)}  repair ${event.repair}: ${event.problem}`)]
    case 'attempt-error': {
      if (isPaused(event.error)) return []
      const next = event.retryInMs === null ? '' : `; again in ${duration(event.retryInMs)}`
      const failed = `✗ ${taskName(event)}  attempt ${event.attempt}: ${describeError(event.error)}`
      return [colors.red(printable(`${failed}${next}`))]
    }
    case 'loop-iteration':
      return [printable(`↻ ${event.loopId}  iteration ${event.iteration}`)]
    case 'run-error':
      // The end of the command says how to decide and to resume.
      return isPaused(event.error) ? [] : [`\nGo on with: ${facts.resumeWith}`]
    default:
      return []
  }
}

/** One JSON document a line; `type` says which. */
export function createWorkflowJsonReporter(terminal: Terminal): WorkflowReporter {
  return {
    happened(event) {
      terminal.json('error' in event ? { ...event, error: describeError(event.error) } : event)
    },
    callStarted: (call) => terminal.json({ type: 'call-start', ...call }),
    callEnded: (call) => terminal.json({ type: 'call-end', ...call }),
    violationFound: (violation) => terminal.json({ type: 'violation', ...violation }),
    finishedBefore() {},
    finished: (outputs) => terminal.json({ type: 'outputs', outputs }),
    waits(calls) {
      for (const call of calls) terminal.json({ type: 'waits', ...call })
    },
    hold: () => () => {},
    stop() {},
  }
}

function taskName({ nodeId, iteration }: { nodeId: string; iteration: number }): string {
  return printable(iteration === 0 ? nodeId : `${nodeId} #${iteration}`)
}
