import { isOrphan } from '@smithers/tool-core/log'
import type { ToolCallRow } from '@smithers/tool-core/log'
import type { RunRow, TaskRow } from '@smithers/tool-core/log'
import type { WaitingCall } from './paused-run.ts'
import { type BlockedCall, blockedCalls } from '../log/blocked-calls.ts'
import { callOutcome } from '../log/call-outcome.ts'
import { shellWord } from '../terminal/shell-word.ts'
import { ownerText } from './owner-text.ts'

/**
 * The state of a run: its recorded status, or `interrupted` when its process is gone, or `decided` when all approvals it
 * waited for have been decided and it can be resumed.
 */
type RunState = RunRow['status'] | 'interrupted' | 'decided'

/**
 * The state of a run, which may differ from its recorded status.
 *
 * @param waiting Number of its calls that wait for a decision.
 */
export function runState(run: RunRow, waiting: number, nowMs: number): RunState {
  if (run.status === 'waiting') return waiting > 0 ? 'waiting' : 'decided'
  if (run.status !== 'running') return run.status
  if (run.leaseToken === null) return 'interrupted'
  return isOrphan({ ...run, finishedAtMs: null }, nowMs) ? 'interrupted' : 'running'
}

/** The record of a run. */
export interface RunRecord {
  readonly run: RunRow
  readonly tasks: readonly TaskRow[]
  readonly calls: readonly ToolCallRow[]
  /** Pending calls. */
  readonly waits: readonly WaitingCall[]
  /** The option that makes a command read this log; empty for the default log. */
  readonly logArgument: string
  /** Whether this program has a command `resume`. */
  readonly hasResume: boolean
}

/** Explains in one paragraph what a run waits for or why it failed. */
export function explainRun(record: RunRecord, nowMs: number): string {
  const { run, tasks, calls, waits } = record
  const name = run.workflow === null ? '' : ` of workflow "${run.workflow}"`
  const ofTask = tasks.some(({ status }) => status === 'failed')
  const sentences = [`Run ${run.runId}${name} ${verbOf(record, ofTask, nowMs)}`]
  const finished = tasks.filter(({ status }) => status === 'finished')
  const state = runState(run, waits.length, nowMs)
  if (state !== 'finished') sentences.push(finishedSentence(finished.length))
  for (const task of tasks) {
    if (task.status !== 'finished') sentences.push(taskSentence(task, state, calls, nowMs))
  }
  sentences.push(...waits.map(waitingSentence))
  if (state === 'decided') sentences.push('Every pending call has been decided.')
  if (state !== 'finished' && state !== 'running') {
    const resume = resumeCommand(record)
    for (const call of blockedCalls(calls)) sentences.push(blockedSentence(call, resume))
    sentences.push(
      `${resume === null ? 'A worker, or its program with the same runId,' : `"${resume}"`} continues from here: finished tasks are not run again, and the agent is warned of what may have happened.`,
    )
  }
  return sentences.join(' ')
}

/** The command that resumes a run; null where this program has none. */
export function resumeCommand({ run, logArgument, hasResume }: RunRecord): string | null {
  return hasResume ? `smithers resume ${shellWord(run.runId)}${logArgument}` : null
}

/** @param ofTask A task has failed, and its own sentence says why. */
function verbOf({ run, waits }: RunRecord, ofTask: boolean, nowMs: number): string {
  switch (runState(run, waits.length, nowMs)) {
    case 'finished':
      return `finished at ${timeOf(run.finishedAtMs)}.`
    case 'failed':
      return ofTask
        ? `failed at ${timeOf(run.finishedAtMs)}.`
        : `failed at ${timeOf(run.finishedAtMs)}: ${messageOf(run.errorJson)}`
    case 'queued':
      return 'waits for a worker.'
    case 'stopped':
      return `was stopped at ${timeOf(run.finishedAtMs)}.`
    case 'waiting':
    case 'decided':
      return `has been paused for approval since ${timeOf(run.finishedAtMs)}.`
    case 'interrupted':
      return `was interrupted: its process ${ownerText(run.ownerId)} is gone.`
    default:
      return `is running in process ${ownerText(run.ownerId)}.`
  }
}

function finishedSentence(count: number): string {
  if (count === 0) return 'No task has finished.'
  return count === 1 ? 'One task has finished.' : `${count} tasks have finished.`
}

/** The missing decision, and the commands that make it. */
export function waitingSentence(call: WaitingCall): string {
  const { toolName, nodeId, question, approve, reject } = call
  return `It waits for a decision about ${toolName} in task "${nodeId}" ("${question}"): "${approve}" or "${reject}".`
}

function blockedSentence({ nodeId, toolName, key }: BlockedCall, resume: string | null): string {
  const allowing =
    resume === null
      ? `allow this key with "allow" of runWorkflow`
      : `use "${resume} --allow ${key}"`
  return `A call of ${toolName} in task "${nodeId}" was blocked, because an earlier call may have had the same effect (key ${key}). Find out what happened; if the call must run, ${allowing}.`
}

function taskSentence(
  task: TaskRow,
  state: RunState,
  calls: readonly ToolCallRow[],
  nowMs: number,
): string {
  const { nodeId, iteration, attempt } = task
  const name = iteration === 0 ? `Task "${nodeId}"` : `Task "${nodeId}" (iteration ${iteration})`
  const own = calls.filter(
    (call) => call.nodeId === nodeId && call.iteration === iteration && call.sideEffect,
  )
  const unknown = own.filter((call) => callOutcome(call, nowMs).outcome === 'unknown')
  const running = own.filter((call) => callOutcome(call, nowMs).outcome === 'running')
  const effects = unknown.map(
    ({ toolName, idempotencyKey }) => `${toolName} (key ${idempotencyKey ?? 'none'})`,
  )
  const warning =
    effects.length === 0 ? '' : ` It is unknown whether this happened: ${effects.join(', ')}.`
  if (task.status === 'failed') {
    return `${name} failed in attempt ${attempt}: ${messageOf(task.errorJson)}${warning}`
  }
  if (state === 'running' && task.status === 'running') {
    const tool = running[0] === undefined ? '' : `, in ${running[0].toolName}`
    const seconds = Math.max(0, Math.round((nowMs - task.startedAtMs) / 1000))
    return `It waits for ${name.replace('Task', 'task')}, attempt ${attempt}, started ${seconds} s ago${tool}.${warning}`
  }
  const ended = isApproval(task.errorJson) ? 'is paused' : 'was interrupted'
  return `${name} ${ended} in attempt ${attempt}.${warning}`
}

function isApproval(errorJson: string | null): boolean {
  return errorJson !== null && errorJson.includes('"TOOL_APPROVAL_REQUIRED"')
}

function messageOf(errorJson: string | null): string {
  const { message, code } = JSON.parse(errorJson ?? '{}') as { message?: string; code?: string }
  // The advice to resume is given once, at the end.
  const text = message?.replace(/ Resume with runId ".*"\.$/, '') ?? 'the reason was not recorded'
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`
  return code === undefined ? sentence : `${sentence} (${code})`
}

function timeOf(timeMs: number | null): string {
  return timeMs === null ? 'an unknown time' : new Date(timeMs).toISOString()
}
