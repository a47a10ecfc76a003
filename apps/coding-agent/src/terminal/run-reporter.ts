import type { IsolationReport, Violation } from '@smithers/sandbox'
import { type ModelUsage, usageText } from '../agent/model-usage.ts'
import type { WaitingCall } from '@smithers/cli/src/runs/paused-run.ts'
import { printable } from '@smithers/cli/src/terminal/printable.ts'
import { endedCallLine, runningCallLine } from '@smithers/cli/src/terminal/call-line.ts'
import type { EndedCall, StartedCall } from '@smithers/cli/src/terminal/call-line.ts'
import { isolationSentence } from '@smithers/cli/src/terminal/isolation-text.ts'
import { createLiveLines } from './live-lines.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'
import { waitingLines } from './waiting-lines.ts'

/** The start of a run. */
interface RunStart {
  readonly runId: string
  readonly attempt: number
  readonly model: string
  readonly rootDir: string
  readonly logPath: string
  /** What the operating system enforces for commands. */
  readonly isolation: IsolationReport
}

/** The end of a run. */
interface RunEnd {
  readonly runId: string
  readonly ok: boolean
  readonly steps: number
  readonly calls: number
  readonly durationMs: number
  /** What the model used, where its provider says. */
  readonly usage: ModelUsage | null
  /** Why the run failed. */
  readonly error: string | null
}

/** Reports the progress of a run. */
export interface RunReporter {
  runStarted(run: RunStart): void
  /** Text of the model. The last text of a run is its answer. */
  said(text: string): void
  callStarted(call: StartedCall): void
  callEnded(call: EndedCall): void
  /** The sandbox undid a change of a protected name, or a command met a limit. */
  violationFound(violation: Violation): void
  /** The run is paused because these calls wait for approval. */
  waits(calls: readonly WaitingCall[]): void
  /** Leaves the terminal to a question until the returned function is called. */
  hold(): () => void
  runEnded(end: RunEnd): void
}

/** Prints one line per call, with the model's text in between. */
export function createTextReporter(terminal: Terminal): RunReporter {
  const { colors } = terminal
  const lines = createLiveLines(terminal)
  return {
    runStarted(run) {
      const again = run.attempt === 1 ? '' : ` (attempt ${run.attempt})`
      lines.line(`${colors.bold(printable(run.runId))}${again}  ${printable(run.model)}`)
      lines.line(colors.dim(`root ${run.rootDir}`))
      lines.line(colors.dim(`log  ${run.logPath}`))
      lines.line(colors.dim(`isolation: ${isolationSentence(run.isolation)}`))
      if (run.isolation.notEnforced.length > 0) {
        const missing = run.isolation.notEnforced.map(({ what }) => what).join(', ')
        lines.line(colors.yellow(`not enforced: ${missing} ("smithers doctor" says why)`))
      }
    },
    said(text) {
      lines.line(`\n${printable(text.trim())}`)
    },
    callStarted(call) {
      const startedAt = performance.now()
      lines.start(call.id, () => runningCallLine(call, performance.now() - startedAt, colors))
    },
    callEnded(call) {
      lines.end(call.id, endedCallLine(call, colors))
    },
    violationFound({ message }) {
      lines.line(colors.yellow(`sandbox: ${printable(message)}`))
    },
    waits(calls) {
      lines.line(`\n${waitingLines(calls, colors)}`)
    },
    hold: () => lines.hold(),
    runEnded({ steps, calls, durationMs, usage }) {
      const seconds = (durationMs / 1000).toFixed(1)
      lines.line(
        colors.dim(
          `\n${counted(calls, 'call')} in ${counted(steps, 'step')}, ${seconds} s${usage === null ? '' : `, ${usageText(usage)}`}`,
        ),
      )
      lines.stop()
    },
  }
}

/** Prints JSON Lines; `type` names the kind of each. */
export function createJsonReporter(terminal: Terminal): RunReporter {
  return {
    runStarted: (run) => terminal.json({ type: 'run-start', ...run }),
    said: (text) => terminal.json({ type: 'text', text }),
    callStarted: (call) => terminal.json({ type: 'call-start', ...call }),
    callEnded: (call) => terminal.json({ type: 'call-end', ...call }),
    violationFound: (violation) => terminal.json({ type: 'violation', ...violation }),
    waits(calls) {
      for (const call of calls) terminal.json({ type: 'waits', ...call })
    },
    hold: () => () => {},
    runEnded: (end) => terminal.json({ type: 'run-end', ...end }),
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
