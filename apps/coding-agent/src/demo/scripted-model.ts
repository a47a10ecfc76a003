import type { LanguageModel } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'

/** What a script says next, and the tool that it wants called. */
export interface ScriptedTurn {
  readonly text: string
  readonly toolName: string
  readonly input: Readonly<Record<string, unknown>>
}

/** What the tool really answered, as the language model gets to see it. */
export interface ToolAnswer {
  readonly failed: boolean
  readonly text: string
}

/** Yields tool calls, is resumed with their answers, and returns the last words. */
export type Script = Generator<ScriptedTurn, string, ToolAnswer>

/** The model, and all that it was ever sent. */
export interface ScriptedModel {
  readonly model: LanguageModel
  readonly conversation: () => string
}

type StreamOptions = MockLanguageModelV4['doStreamCalls'][number]
type Prompt = StreamOptions['prompt']
type StreamPart =
  Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part>
    ? Part
    : never

/**
 * A language model whose replies come from a script instead of a network. It sees what a real model sees, the prompt
 * with the results of its calls, and nothing else.
 */
export function createScriptedModel(script: (task: string) => Script): ScriptedModel {
  let running: Script | undefined
  let turns = 0
  const model = new MockLanguageModelV4({
    provider: 'smithers',
    modelId: 'scripted',
    doStream: async ({ prompt }) => {
      turns += 1
      const { value, done } =
        running === undefined
          ? (running = script(firstUserText(prompt))).next()
          : running.next(lastToolAnswer(prompt))
      return { stream: convertArrayToReadableStream(replyParts(value, done === true, turns)) }
    },
  })
  return {
    model,
    conversation: () => JSON.stringify(model.doStreamCalls.map(({ prompt }) => prompt)),
  }
}

function replyParts(turn: ScriptedTurn | string, done: boolean, number: number): StreamPart[] {
  const id = `text-${number}`
  const text = typeof turn === 'string' ? turn : turn.text
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
    ...(typeof turn === 'string'
      ? []
      : [
          {
            type: 'tool-call' as const,
            toolCallId: `call-${number}`,
            toolName: turn.toolName,
            input: JSON.stringify(turn.input),
          },
        ]),
    {
      type: 'finish',
      finishReason: { unified: done ? 'stop' : 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
    },
  ]
}

function firstUserText(prompt: Prompt): string {
  for (const message of prompt) {
    if (message.role !== 'user') continue
    for (const part of message.content) if (part.type === 'text') return part.text
  }
  return ''
}

function lastToolAnswer(prompt: Prompt): ToolAnswer {
  const message = prompt.at(-1)
  const part = message?.role === 'tool' ? message.content.at(-1) : undefined
  if (part?.type !== 'tool-result') return { failed: true, text: 'The call has no result.' }
  const { output } = part
  if (output.type === 'text' || output.type === 'error-text') {
    return { failed: output.type === 'error-text', text: output.value }
  }
  return { failed: output.type !== 'json', text: JSON.stringify(output) }
}
