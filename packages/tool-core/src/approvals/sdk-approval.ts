import type { ConversationMessage } from '../contract/task-context.ts'

/**
 * The id of the approval that the AI SDK collected for a call, when its user has said yes: the conversation then ends
 * with the response. The AI SDK itself acts on nothing else, and a model cannot write such a message.
 *
 * @remarks Does not protect against an application that lets its clients send any messages they like; sign approvals
 *   with the AI SDK's `experimental_toolApprovalSecret` there.
 */
export function sdkApprovalOf(
  messages: readonly ConversationMessage[],
  toolCallId: string,
): string | undefined {
  const last = messages.at(-1)
  if (last?.role !== 'tool') return undefined
  const asked = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const part of partsOf(message)) {
      if (
        part.type === 'tool-approval-request' &&
        part.toolCallId === toolCallId &&
        part.approvalId !== undefined
      ) {
        asked.add(part.approvalId)
      }
    }
  }
  const answer = partsOf(last).find(
    ({ type, approvalId }) =>
      type === 'tool-approval-response' && approvalId !== undefined && asked.has(approvalId),
  )
  return answer?.approved === true ? answer.approvalId : undefined
}

interface ApprovalPart {
  readonly type?: string
  readonly toolCallId?: string
  readonly approvalId?: string
  readonly approved?: boolean
}

function partsOf({ content }: ConversationMessage): readonly ApprovalPart[] {
  return Array.isArray(content) ? (content as readonly ApprovalPart[]) : []
}
