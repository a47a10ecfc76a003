import type { RequestStateCodec } from '@modelcontextprotocol/server'
import type { QuestionState } from '../approvals/question-state.ts'
import type { CallProgress } from '../calls/call-progress.ts'
import type { CallSlots } from '../calls/call-slots.ts'
import type { RunningCall } from '../calls/running-call.ts'
import type { UnansweredCalls } from '../calls/unanswered-calls.ts'
import type { RunJournal } from '../log/run-journal.ts'
import type { ServerSettings } from '../options/server-options.ts'
import type { ServedTool } from '../tools/served-tool.ts'

/** What all sessions of a server share. */
export interface ServerParts {
  readonly settings: ServerSettings
  readonly tools: ReadonlyMap<string, ServedTool>
  readonly journal: RunJournal
  readonly states: RequestStateCodec<QuestionState>
  readonly slots: CallSlots
  readonly unanswered: UnansweredCalls
  /** Of the calls that run, by their ids: for the output of their commands. */
  readonly progress: Map<string, CallProgress>
  /** The calls that run or wait. The server aborts them when it closes, and waits for their rows. */
  readonly running: Set<RunningCall>
  /** Settled when the rows of crashed servers are marked. */
  readonly recovered: Promise<unknown>
  /** What the agent must know of the server. */
  readonly instructions: string
}
