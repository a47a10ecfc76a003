import type { ToolCallRow } from '@smithers/tool-core/log'
import type { WaitingCall } from './paused-run.ts'
import { callOutcome } from '../log/call-outcome.ts'
import { shellWord } from '../terminal/shell-word.ts'
import { waitingSentence } from './explain-run.ts'

/** The record of a run without a workflow. */
export interface CallsRecord {
  readonly runId: string
  /** At least one, oldest first. */
  readonly calls: readonly ToolCallRow[]
  readonly waits: readonly WaitingCall[]
  /** Whether this program has a command `run`, whose runs these are. */
  readonly hasRun: boolean
}

/** Explains a run without a workflow in one paragraph. */
export function explainCalls({ runId, calls, waits, hasRun }: CallsRecord, nowMs: number): string {
  const last = calls.at(-1)
  const attempt = Math.max(...calls.map((call) => call.attempt))
  const outcomes = calls.map((call) => ({ call, ...callOutcome(call, nowMs) }))
  const names = (wanted: string): string[] =>
    outcomes
      .filter(({ call, outcome }) => outcome === wanted && call.sideEffect)
      .map(({ call }) => `${call.toolName} (key ${call.idempotencyKey ?? 'none'})`)
  const running = outcomes.find(({ outcome }) => outcome === 'running')
  const unknown = names('unknown')
  return [
    `Run ${runId} is a run of an agent, with ${calls.length} ${calls.length === 1 ? 'call' : 'calls'} in ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}.`,
    running === undefined
      ? `Its last call was ${last?.toolName}, begun at ${new Date(last?.startedAtMs ?? 0).toISOString()}.`
      : `It is running ${running.call.toolName} now.`,
    ...(unknown.length > 0 ? [`It is unknown whether this happened: ${unknown.join(', ')}.`] : []),
    ...waits.map(waitingSentence),
    ...(running === undefined
      ? [
          hasRun
            ? `The same "smithers run" command and --run ${shellWord(runId)} start its next attempt, and the agent is warned of what may have happened.`
            : 'When its program starts the next attempt under the same runId, the agent is warned of what may have happened.',
        ]
      : []),
  ].join(' ')
}
