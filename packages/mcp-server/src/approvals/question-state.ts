import { createRequestStateCodec, type RequestStateCodec } from '@modelcontextprotocol/server'
import { clientOf } from '../calls/call-identity.ts'

/** What a client carries from a question to its answer. Sealed, not secret. */
export interface QuestionState {
  readonly run: string
  readonly call: string
  readonly approval: string
  /** The attempt that asked, from 1. */
  readonly round: number
  /** Of the call that asked: an answer serves no other. */
  readonly signature: string
}

/** Seals the state of questions for the client that was asked, and for a while. */
export function questionStates(
  key: string | Uint8Array,
  ttlMs: number,
): RequestStateCodec<QuestionState> {
  return createRequestStateCodec<QuestionState>({
    key,
    ttlSeconds: Math.ceil(ttlMs / 1000),
    bind: (ctx) => `${ctx.mcpReq.method}\n${clientOf(ctx)}`,
  })
}
