import {
  createUIMessageStream,
  getToolName,
  isToolUIPart,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'

/**
 * An answer that the server already has, for a page that has only its first parts: the outcomes of their calls, and all
 * later parts. No model and no tool runs.
 */
export function storedAnswer(
  { id, parts }: UIMessage,
  knownParts: number,
): ReadableStream<UIMessageChunk> {
  return createUIMessageStream({
    execute({ writer }) {
      writer.write({ type: 'start', messageId: id })
      for (const [index, part] of parts.entries()) {
        for (const chunk of chunksOf(part, `stored-${index}`, index < knownParts))
          writer.write(chunk)
      }
      writer.write({ type: 'finish' })
    },
  })
}

function* chunksOf(
  part: UIMessage['parts'][number],
  id: string,
  known: boolean,
): Generator<UIMessageChunk> {
  if (isToolUIPart(part)) {
    const { toolCallId, input } = part
    if (!known) {
      yield { type: 'tool-input-available', toolCallId, toolName: getToolName(part), input }
    }
    if (part.state === 'output-available') {
      yield { type: 'tool-output-available', toolCallId, output: part.output }
    } else if (part.state === 'output-error') {
      yield { type: 'tool-output-error', toolCallId, errorText: part.errorText }
    } else if (part.state === 'output-denied') {
      yield { type: 'tool-output-denied', toolCallId }
    }
  } else if (part.type === 'step-start' && !known) {
    yield { type: 'start-step' }
  } else if (part.type === 'text' && !known) {
    yield { type: 'text-start', id }
    yield { type: 'text-delta', id, delta: part.text }
    yield { type: 'text-end', id }
  }
}
