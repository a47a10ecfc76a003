import type { WaitingCall } from '../agent/paused-run.ts'
import { printable } from './printable.ts'
import type { Colors } from './terminal.ts'

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
