import { isOrphan } from '@smithers/tool-core/log'
import type { ToolCallRow } from '@smithers/tool-core/log'
import type { RunRow, TaskRow } from '@smithers/tool-core/log'
import type { WaitingCall } from '../agent/paused-run.ts'
import { type BlockedCall, blockedCalls } from '../log/blocked-calls.ts'
import { callVerdict } from '../log/call-outcome.ts'
import { shellWord } from '../terminal/shell-word.ts'
import { ownerText } from './owner-text.ts'

/**
 * What a run is doing: as recorded, but `interrupted` when its process is gone, `waiting` for an approval, or `decided`
 * when it waits for nothing but to be resumed.
 */
type RunState = RunRow['status'] | 'interrupted' | 'waiting' | 'decided'

/**
 * Whether somebody works on a run that says it is running.
 *
 * @param waiting How many of its calls wait for a decision.
 */
export function runState(run: RunRow, waiting: number, nowMs: number): RunState {
  if (run.status === 'stopped' && isApproval(run.errorJson)) {
    return waiting > 0 ? 'waiting' : 'decided'
  }
  if (run.status !== 'running') return run.status
  if (run.leaseToken === null) return 'interrupted'
  return isOrphan({ ...run, finishedAtMs: null }, nowMs) ? 'interrupted' : 'running'
}

/** What a log knows of a run. */
export interface RunRecord {
  readonly run: RunRow
  readonly tasks: readonly TaskRow[]
  readonly calls: readonly ToolCallRow[]
  /** Those that nobody has decided about. */
  readonly waits: readonly WaitingCall[]
  /** What follows a command to make it read this log; empty for the default. */
  readonly logArgument: string
}

/** What a run waits for or why it failed, in one paragraph. */
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
  if (state === 'decided') sentences.push('Every call that waited has been decided about.')
  if (state !== 'finished' && state !== 'running') {
    const resume = resumeCommand(record)
    for (const call of blockedCalls(calls)) sentences.push(blockedSentence(call, resume))
    sentences.push(
      `"${resume}" goes on from here: finished tasks are not run again, and the agent is told what may have happened.`,
    )
  }
  return sentences.join(' ')
}

/** The command that goes on with a run. */
export function resumeCommand({ run, logArgument }: RunRecord): string {
  return `smithers resume ${shellWord(run.runId)}${logArgument}`
}

/** @param ofTask A task has failed, so its own sentence says why. */
function verbOf({ run, waits }: RunRecord, ofTask: boolean, nowMs: number): string {
  switch (runState(run, waits.length, nowMs)) {
    case 'finished':
      return `finished at ${timeOf(run.finishedAtMs)}; nothing is left to do.`
    case 'failed':
      return ofTask
        ? `failed at ${timeOf(run.finishedAtMs)}.`
        : `failed at ${timeOf(run.finishedAtMs)}: ${messageOf(run.errorJson)}`
    case 'stopped':
      return `was stopped at ${timeOf(run.finishedAtMs)}.`
    case 'waiting':
    case 'decided':
      return `is paused since ${timeOf(run.finishedAtMs)} for approval.`
    case 'interrupted':
      return `was interrupted: process ${ownerText(run.ownerId)}, which worked on it, is gone.`
    default:
      return `is running in process ${ownerText(run.ownerId)}.`
  }
}

function finishedSentence(count: number): string {
  if (count === 0) return 'No task has finished.'
  return count === 1 ? 'One task has finished.' : `${count} tasks have finished.`
}

/** Which decision is missing, and the commands that make it. */
export function waitingSentence(call: WaitingCall): string {
  const { toolName, nodeId, question, approve, reject } = call
  return `It waits for a decision about ${toolName} in task "${nodeId}" ("${question}"): "${approve}" or "${reject}".`
}

function blockedSentence({ nodeId, toolName, key }: BlockedCall, resume: string): string {
  return `A call of ${toolName} in task "${nodeId}" was blocked, since an earlier one may stand for it (key ${key}). Look at what happened outside; if it must run, "${resume} --allow ${key}".`
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
  const unknown = own.filter((call) => callVerdict(call, nowMs).outcome === 'unknown')
  const running = own.filter((call) => callVerdict(call, nowMs).outcome === 'running')
  const effects = unknown.map(
    ({ toolName, idempotencyKey }) => `${toolName} (key ${idempotencyKey ?? 'none'})`,
  )
  const warning =
    effects.length === 0 ? '' : ` Whether this happened is unknown: ${effects.join(', ')}.`
  if (task.status === 'failed') {
    return `${name} failed in attempt ${attempt}: ${messageOf(task.errorJson)}${warning}`
  }
  if (state === 'running' && task.status === 'running') {
    const tool = running[0] === undefined ? '' : `, in ${running[0].toolName}`
    const seconds = Math.max(0, Math.round((nowMs - task.startedAtMs) / 1000))
    return `It waits for ${name.replace('Task', 'task')}, attempt ${attempt}, begun ${seconds} s ago${tool}.${warning}`
  }
  const ended = isApproval(task.errorJson) ? 'is paused' : 'was interrupted'
  return `${name} ${ended} in attempt ${attempt}.${warning}`
}

function isApproval(errorJson: string | null): boolean {
  return errorJson !== null && errorJson.includes('"TOOL_APPROVAL_REQUIRED"')
}

function messageOf(errorJson: string | null): string {
  const { message, code } = JSON.parse(errorJson ?? '{}') as { message?: string; code?: string }
  // How to resume is said once, at the end.
  const text = message?.replace(/ Resume with runId ".*"\.$/, '') ?? 'the reason was not recorded'
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`
  return code === undefined ? sentence : `${sentence} (${code})`
}

function timeOf(timeMs: number | null): string {
  return timeMs === null ? 'an unknown time' : new Date(timeMs).toISOString()
}
