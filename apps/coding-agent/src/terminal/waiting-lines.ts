import type { WaitingCall } from '@smithers/cli/src/runs/paused-run.ts'
import { printable } from '@smithers/cli/src/terminal/printable.ts'
import type { Colors } from '@smithers/cli/src/terminal/terminal.ts'

/** Two lines per call: the question, and the command that approves it. */
export function waitingLines(calls: readonly WaitingCall[], colors: Colors): string {
  return calls
    .map(({ toolName, question, approve }) =>
      [
        `${colors.yellow('waits')}  ${colors.bold(printable(toolName))}  "${printable(question)}"`,
        `       ${printable(approve)}`,
      ].join('\n'),
    )
    .join('\n')
}
