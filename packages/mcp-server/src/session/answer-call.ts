import { isSmithersError, resolveToolApproval, SmithersError } from '@smithers/tool-core'
import {
  type CallToolRequest,
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { approvalAnswer } from '../approvals/approval-answer.ts'
import { approvalQuestion } from '../approvals/approval-question.ts'
import type { QuestionState } from '../approvals/question-state.ts'
import { callSignature, clientOf } from '../calls/call-identity.ts'
import { createCallProgress } from '../calls/call-progress.ts'
import { errorResult } from '../calls/call-result.ts'
import { once } from '../calls/once.ts'
import { RunningCall } from '../calls/running-call.ts'
import { withTraceParent } from '../calls/trace-parent.ts'
import type { JournaledCall } from '../log/run-journal.ts'
import { printableLine, shortened } from '../text/printable.ts'
import type { ServedTool } from '../tools/served-tool.ts'
import { type CallRound, callRound, isOnce } from './call-round.ts'
import { argumentsAsSent } from './call-server.ts'
import { canElicit, clientCapabilities, clientName } from './client-capabilities.ts'
import { makeCall, recordUnknownTool } from './make-call.ts'
import type { ServerParts } from './server-parts.ts'

type Answer = CallToolResult | InputRequiredResult

/** A request, and the connection that it came by. */
export interface ClientRequest {
  readonly server: Server
  readonly ctx: ServerContext
  /** Aborted when the connection has ended. */
  readonly closed: AbortSignal
}

/** Answers `tools/call`. A call that is made has one row for each round, whatever becomes of it. */
export async function answerCall(
  parts: ServerParts,
  { server, ctx, closed }: ClientRequest,
  params: CallToolRequest['params'],
): Promise<Answer> {
  // A client that uses an id twice at once takes the first call's own signal from it.
  const call = new RunningCall([ctx.mcpReq.signal, ctx.http?.req?.signal, closed])
  const { signal } = call
  parts.running.add(call)
  let release: (() => void) | undefined
  try {
    release = await parts.slots.take(signal)
    await parts.recovered
    const { _meta: meta } = ctx.mcpReq
    return await withTraceParent(meta, () =>
      new CallAnswer(parts, { server, ctx, signal }).of(params),
    )
  } finally {
    release?.()
    parts.running.delete(call)
    call.end()
  }
}

interface CallRequest {
  readonly server: Server
  readonly ctx: ServerContext
  readonly signal: AbortSignal
}

/** The answer to one request. */
class CallAnswer {
  readonly #parts: ServerParts
  readonly #request: CallRequest

  constructor(parts: ServerParts, request: CallRequest) {
    this.#parts = parts
    this.#request = request
  }

  async of({ name, arguments: given }: CallToolRequest['params']): Promise<Answer> {
    const args = argumentsAsSent(given)
    const served = this.#parts.tools.get(name)
    if (served === undefined) return this.#unknown(name, args)
    const { server, ctx } = this.#request
    const signature = once(() => callSignature(clientOf(ctx), name, args))
    const canAsk =
      this.#parts.settings.approveWith === 'client' && canElicit(clientCapabilities(server, ctx))
    const round = await callRound(this.#parts, { ctx, served, signature, canAsk })
    try {
      await this.#decide()
      return await this.#result(served, args, { round, signature })
    } catch (error) {
      const question = canAsk ? await this.#question(error, { round, signature }) : undefined
      if (question === undefined) return this.#withRow(errorResult(error), round)
      this.#parts.journal.take(round.callId)
      return question
    }
  }

  async #unknown(name: string, args: unknown): Promise<never> {
    const { settings } = this.#parts
    const round = { runId: settings.runId, callId: crypto.randomUUID(), attempt: 1, isNew: true }
    await recordUnknownTool(this.#parts, { args, round, signal: this.#request.signal }, name)
    this.#parts.journal.take(round.callId)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown tool "${shortened(printableLine(name), 64)}". The tools are ${[...this.#parts.tools.keys()].join(', ')}.`,
    )
  }

  /** Stores what the person at the client has said to the question that the request answers. */
  async #decide(): Promise<void> {
    const { server, ctx } = this.#request
    const state = ctx.mcpReq.requestState<QuestionState>()
    const answer = approvalAnswer(ctx.mcpReq.inputResponses)
    if (state === undefined || answer === undefined) return
    try {
      const { approval: id, run: runId } = state
      const decidedBy = `mcp:${clientName(server, ctx)}`
      const { log } = this.#parts.journal
      await resolveToolApproval({ log, id, runId, decidedBy, ...answer })
    } catch (error) {
      // Another one has decided. A yes of theirs does not overrule this no; their no holds, as the call will find.
      if (!answer.approved) throw error
      if (!isSmithersError(error) || error.code !== 'TOOL_APPROVAL_DECIDED') throw error
    }
  }

  async #result(
    served: ServedTool,
    args: unknown,
    { round, signature }: { readonly round: CallRound; readonly signature: () => string },
  ): Promise<CallToolResult> {
    const { server, ctx, signal } = this.#request
    const { progress: shown, unanswered } = this.#parts
    const { _meta: meta, notify } = ctx.mcpReq
    const progress = createCallProgress(meta?.progressToken, notify)
    shown.set(round.callId, progress)
    progress.start()
    try {
      const result = await makeCall(this.#parts, { served, args, round, signal, progress })
      const { outputSchema } = served.listed
      return this.#withRow(server.projectCallToolResult(result, outputSchema), round)
    } finally {
      progress.stop()
      shown.delete(round.callId)
      if (signal.aborted && isOnce(served) && unanswered.keeps) unanswered.add(signature(), round)
    }
  }

  /** The question to the client, when that is why the call did not run. */
  async #question(
    error: unknown,
    { round, signature }: { readonly round: CallRound; readonly signature: () => string },
  ): Promise<InputRequiredResult | undefined> {
    if (!isSmithersError(error) || error.code !== 'TOOL_APPROVAL_REQUIRED') return undefined
    const { journal, states } = this.#parts
    const id = approvalIdOf(error)
    const [row] = (await journal.log.approvals?.list({ id, limit: 1 })) ?? []
    if (row === undefined) return undefined
    const state: QuestionState = {
      run: round.runId,
      call: round.callId,
      approval: id,
      round: round.attempt,
      signature: signature(),
    }
    const requestState = await states.mint(state, this.#request.ctx)
    return inputRequired({ inputRequests: approvalQuestion(row), requestState })
  }

  /** Says with the result which row holds the call. */
  #withRow(result: CallToolResult, { callId }: CallRound): CallToolResult {
    const call = this.#parts.journal.take(callId)
    if (call === undefined) return result
    const { token, key, finish } = call
    const replayed = typeof finish?.replayOf === 'string'
    const entry = { token, key, outcome: outcomeOf(finish), replayed }
    return { ...result, _meta: { 'smithers/call': entry } }
  }
}

function outcomeOf(finish: JournaledCall['finish']): 'success' | 'error' | 'unknown' {
  if (finish === undefined) return 'unknown'
  if (finish.status === 'success') return 'success'
  return finish.effect === 'unknown' ? 'unknown' : 'error'
}

/** Of the call itself, or of the pause that it caused. */
function approvalIdOf({ details }: SmithersError): string {
  const [first] = (details['approvals'] ?? []) as readonly { readonly approvalId?: unknown }[]
  return String(details['approvalId'] ?? first?.approvalId)
}
