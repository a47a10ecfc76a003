import { isDeepStrictEqual } from 'node:util'
import { isToolUIPart, type UIMessage } from 'ai'
import { z } from 'zod'
import { RefusedRequest } from './refused-request.ts'

const textPart = z.object({ type: z.literal('text'), text: z.string().max(20_000) })

/** The only parts of an assistant's message that a client decides: its answers to requests for approval. */
const answeredPart = z.object({
  toolCallId: z.string(),
  state: z.literal('approval-responded'),
  approval: z.object({
    id: z.string(),
    approved: z.boolean(),
    reason: z.string().max(2000).optional(),
  }),
})

/** What a client sends: its chat, and the one message that the server does not have yet. */
export interface ClientRequest {
  readonly id: string
  readonly message: {
    readonly id: string
    readonly role: 'user' | 'assistant'
    readonly parts: readonly unknown[]
  }
}

const clientRequest: z.ZodType<ClientRequest> = z.object({
  id: z.string().regex(/^[\w-]{1,64}$/),
  message: z.object({
    id: z.string().min(1).max(64),
    role: z.enum(['user', 'assistant']),
    parts: z.array(z.unknown()).max(100),
  }),
})

export function parseClientRequest(request: unknown): ClientRequest {
  const { success, data, error } = clientRequest.safeParse(request)
  if (success) return data
  throw new RefusedRequest(400, z.prettifyError(error))
}

/**
 * The stored conversation with what the client sent.
 *
 * Guarantees: of a user's message only the text counts, and of an assistant's message only yes or no to a request for
 * approval that the server itself stored. Tool names, arguments and outputs are always the server's. No message that
 * has been answered changes, and none but the last answer is taken back.
 *
 * Does not protect against: a client that writes into the chat of another user. Check whose chat it is before.
 */
export function withClientMessage(
  stored: readonly UIMessage[],
  message: ClientRequest['message'],
): readonly UIMessage[] {
  const last = stored.at(-1)
  if (message.role === 'assistant') {
    if (last?.id !== message.id)
      throw new RefusedRequest(400, 'This is not the last message of the chat.')
    const answered = withAnswers(last, message.parts)
    if (answered.parts.some(isOpenRequest))
      throw new RefusedRequest(400, 'An approval is still open.')
    return [...stored.slice(0, -1), answered]
  }
  const text = message.parts.flatMap((part) => textPart.safeParse(part).data ?? [])
  const known = stored.findIndex(({ id }) => id === message.id)
  // A user who writes on has not said yes.
  if (known === -1) return [...stored.map(closed), { id: message.id, role: 'user', parts: text }]
  // Sent again after a lost connection, or to be answered anew: the same message, so the same run.
  if (known !== stored.findLastIndex(({ role }) => role === 'user')) {
    throw new RefusedRequest(409, 'The chat has gone on since this message. Load it again.')
  }
  if (!isDeepStrictEqual(stored[known]?.parts, text)) {
    throw new RefusedRequest(400, 'This message has another text. Send it under a new id.')
  }
  return stored.slice(0, known + 1)
}

/** Whether the user has decided about a call of the message and the message does not have its outcome. */
export function lacksOutcome(message: UIMessage | undefined): boolean {
  return (
    message?.parts.some((part) => 'state' in part && part.state === 'approval-responded') ?? false
  )
}

function withAnswers(stored: UIMessage, given: readonly unknown[]): UIMessage {
  const answers = given.flatMap((part) => answeredPart.safeParse(part).data ?? [])
  const parts = stored.parts.map((part) => {
    // A decision is final: only an open request takes one.
    if (!isOpenRequest(part)) return part
    const { toolCallId, approval } = part
    const answer = answers.find(
      (each) => each.toolCallId === toolCallId && each.approval.id === approval.id,
    )
    if (answer === undefined) return part
    const { approved, reason } = answer.approval
    return {
      ...part,
      state: 'approval-responded' as const,
      approval: { ...approval, approved, ...(reason !== undefined && { reason }) },
    }
  })
  return { ...stored, parts }
}

/** The message with an outcome for each call: a model takes no call without one. */
function closed(message: UIMessage): UIMessage {
  return { ...message, parts: message.parts.map(closedPart) }
}

function closedPart(part: MessagePart): MessagePart {
  if (isOpenRequest(part)) {
    const approval = { ...part.approval, approved: false as const, reason: 'It was not answered.' }
    return { ...part, state: 'output-denied', approval }
  }
  if (!isToolUIPart(part)) return part
  if (part.state === 'approval-responded' && !part.approval.approved) {
    return { ...part, state: 'output-denied', approval: { ...part.approval, approved: false } }
  }
  if (part.state !== 'approval-responded' && part.state !== 'input-available') return part
  const errorText = 'It is unknown whether this was done.'
  return { ...part, state: 'output-error', errorText } as MessagePart
}

type MessagePart = UIMessage['parts'][number]
type OpenRequest = Extract<MessagePart, { state: 'approval-requested' }>

function isOpenRequest(part: MessagePart): part is OpenRequest {
  return isToolUIPart(part) && part.state === 'approval-requested'
}
