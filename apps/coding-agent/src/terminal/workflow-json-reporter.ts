import { describeError } from '@smithers/cli/src/errors/describe-error.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'
import type { WorkflowReporter } from './workflow-reporter.ts'

/** Prints JSON Lines; `type` names the kind of each. */
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
