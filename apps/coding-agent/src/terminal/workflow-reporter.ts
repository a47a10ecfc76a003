import type { Violation } from '@smithers/sandbox'
import type { WorkflowEvent } from '@smithers/workflow'
import type { WaitingCall } from '@smithers/cli/src/runs/paused-run.ts'
import type { EndedCall, StartedCall } from '@smithers/cli/src/terminal/call-line.ts'
import { duration, endedCallLine, runningCallLine } from '@smithers/cli/src/terminal/call-line.ts'
import { createLiveLines } from './live-lines.ts'
import { printable } from '@smithers/cli/src/terminal/printable.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'
import { waitingLines } from './waiting-lines.ts'
import { WorkflowEventLines } from './workflow-event-lines.ts'

/** Reports the progress of a workflow. */
export interface WorkflowReporter {
  happened(event: WorkflowEvent): void
  callStarted(call: StartedCall): void
  callEnded(call: EndedCall): void
  /** The sandbox undid a change of a protected name, or a command met a limit. */
  violationFound(violation: Violation): void
  /** The run had finished earlier, so nothing was run. */
  finishedBefore(): void
  finished(outputs: object): void
  /** The run is paused because these calls wait for approval. */
  waits(calls: readonly WaitingCall[]): void
  /** Leaves the terminal to a question until the returned function is called. */
  hold(): () => void
  /** Ends the report. */
  stop(): void
}

/** Prints one line per task and one per call. On a terminal, running ones are redrawn in place. */
export function createWorkflowTextReporter(
  terminal: Terminal,
  facts: { readonly file: string; readonly logPath: string; readonly resumeWith: string },
): WorkflowReporter {
  const { colors } = terminal
  const lines = createLiveLines(terminal)
  const startedAt = performance.now()
  const events = new WorkflowEventLines(lines, colors, facts)
  return {
    happened: (event) => events.print(event),
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
      lines.line('This run has already finished; nothing was run again.')
    },
    finished(outputs) {
      lines.line(colors.dim(`\ndone in ${duration(performance.now() - startedAt)}`))
      lines.line(printable(JSON.stringify(outputs, null, 2)))
    },
    waits(calls) {
      lines.line(`\n${waitingLines(calls, colors)}`)
    },
    hold: () => lines.hold(),
    stop: () => lines.stop(),
  }
}
