import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

type Answer = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>
type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never

/** A text, or a call of a tool: its name and its arguments. */
export type Turn = string | readonly [toolName: string, input: object]

/** A model that takes its turns one after the other, streamed or not, and then says "Done.". */
export function scriptedModel(...turns: readonly Turn[]): MockLanguageModelV4 {
  let taken = 0
  const next = (): Answer => answerOf(turns[taken++] ?? 'Done.', `call-${taken}`)
  return new MockLanguageModelV4({
    doGenerate: async () => next(),
    doStream: async () => streamOf(next()),
  })
}

/** What a model answers: its turn, why it stopped, and that it cost nothing. */
export function answerOf(turn: Turn, toolCallId: string): Answer {
  const content: Answer['content'] =
    typeof turn === 'string'
      ? [{ type: 'text', text: turn }]
      : [{ type: 'tool-call', toolCallId, toolName: turn[0], input: JSON.stringify(turn[1]) }]
  return {
    content,
    finishReason: { unified: typeof turn === 'string' ? 'stop' : 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    },
    warnings: [],
  }
}

/** The same answer as a stream. */
export function streamOf(answer: Answer): { stream: ReadableStream<StreamPart> } {
  const parts = answer.content.flatMap((part): StreamPart[] => {
    if (part.type === 'tool-call') return [part]
    if (part.type !== 'text') return []
    return [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: part.text },
      { type: 'text-end', id: 't' },
    ]
  })
  const { finishReason, usage } = answer
  return {
    stream: simulateReadableStream<StreamPart>({
      chunks: [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason, usage },
      ],
    }),
  }
}
