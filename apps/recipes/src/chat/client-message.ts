import { isToolUIPart, type UIMessage } from 'ai'
import { z } from 'zod'

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

/** A request that no client of this server makes. */
export class BadRequest extends Error {
  /** Express answers with it. */
  readonly status = 400
}

export function parseClientRequest(request: unknown): ClientRequest {
  const { success, data, error } = clientRequest.safeParse(request)
  if (success) return data
  throw new BadRequest(z.prettifyError(error))
}

/**
 * The stored conversation with what the client sent.
 *
 * Guarantees: of a user's message only the text counts, and of an assistant's message only yes or no to a request for
 * approval that the server itself stored. Tool names, arguments and outputs are always the server's.
 *
 * Does not protect against: a client that writes into the chat of another user. Check whose chat it is before.
 */
export function withClientMessage(
  stored: readonly UIMessage[],
  message: ClientRequest['message'],
): readonly UIMessage[] {
  const last = stored.at(-1)
  if (message.role === 'assistant') {
    if (last?.id !== message.id) throw new BadRequest('This is not the last message of the chat.')
    const answered = withAnswers(last, message.parts)
    if (answered.parts.some(isOpenRequest)) throw new BadRequest('An approval is still open.')
    return [...stored.slice(0, -1), answered]
  }
  const known = stored.findIndex(({ id, role }) => id === message.id && role === 'user')
  // Sent again after a lost connection, or to be answered anew: the same message, so the same run.
  if (known !== -1) return stored.slice(0, known + 1)
  const parts = message.parts.flatMap((part) => textPart.safeParse(part).data ?? [])
  // A user who writes on has not said yes.
  return [...stored.map(withoutOpenRequests), { id: message.id, role: 'user', parts }]
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

function withoutOpenRequests(message: UIMessage): UIMessage {
  const parts = message.parts.map((part) =>
    isOpenRequest(part)
      ? {
          ...part,
          state: 'output-denied' as const,
          approval: { ...part.approval, approved: false as const, reason: 'It was not answered.' },
        }
      : part,
  )
  return { ...message, parts }
}

type OpenRequest = Extract<UIMessage['parts'][number], { state: 'approval-requested' }>

function isOpenRequest(part: UIMessage['parts'][number]): part is OpenRequest {
  return isToolUIPart(part) && part.state === 'approval-requested'
}
