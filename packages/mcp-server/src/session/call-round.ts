import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import type { QuestionState } from '../approvals/question-state.ts'
import { findWaitingCall, waitingCallId } from '../approvals/waiting-call.ts'
import type { ServedTool } from '../tools/served-tool.ts'
import type { ServerParts } from './server-parts.ts'

/** Which call a request is, and which attempt of it. */
export interface CallRound {
  readonly runId: string
  readonly callId: string
  /** From 1. */
  readonly attempt: number
  /** The id was made for this request, so the log holds nothing of it. */
  readonly isNew: boolean
}

/** What decides which call a request is. */
export interface RoundRequest {
  readonly ctx: ServerContext
  readonly served: ServedTool
  /** Equal for equal calls of one client. Made when it is needed: most calls are told apart by nothing. */
  readonly signature: () => string
  /** The client can be asked. */
  readonly canAsk: boolean
}

/**
 * Finds the call that a request continues: one whose question it answers, one that waits for a decision in the log, or
 * one whose answer was never delivered. Any other request is a new call.
 *
 * @throws ProtocolError when the state of a question comes with another call
 */
export async function callRound(parts: ServerParts, request: RoundRequest): Promise<CallRound> {
  const { settings, journal, unanswered } = parts
  const { ctx, served, signature, canAsk } = request
  const state = ctx.mcpReq.requestState<QuestionState>()
  if (state !== undefined) {
    if (state.signature !== signature()) throw otherCall()
    const { run, call, round } = state
    return { runId: run, callId: call, attempt: round + 1, isNew: false }
  }
  const { runId } = settings
  if (served.asks && !canAsk) {
    const waiting = await findWaitingCall(journal.log, runId, signature())
    if (waiting === undefined) return newCall(runId, waitingCallId(signature()))
    return { runId, callId: waiting.callId, attempt: waiting.attempt + 1, isNew: false }
  }
  const earlier = isOnce(served) && unanswered.keeps ? unanswered.take(signature()) : undefined
  if (earlier === undefined) return newCall(runId, crypto.randomUUID())
  return { runId, callId: earlier.callId, attempt: earlier.attempt + 1, isNew: false }
}

/** True for a tool whose calls must not be repeated by accident. */
export function isOnce({ sideEffect, idempotent }: ServedTool): boolean {
  return sideEffect && !idempotent
}

function newCall(runId: string, callId: string): CallRound {
  return { runId, callId, attempt: 1, isNew: true }
}

function otherCall(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'The requestState belongs to another call: the tool or its arguments have changed since the question. Make the call again without it.',
  )
}
