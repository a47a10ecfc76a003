import { appendFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

/** The next text of a script and the tool call that follows it. */
export interface ScriptedTurn {
  readonly text: string
  readonly toolName: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The result of a tool call, as the language model sees it. */
export interface ToolAnswer {
  readonly failed: boolean
  readonly text: string
}

/** Yields tool calls, is resumed with their answers, and returns the model's answer. Gives up by throwing. */
export type Script = Generator<ScriptedTurn, object, ToolAnswer>

type CallOptions = MockLanguageModelV4['doGenerateCalls'][number]
type Prompt = CallOptions['prompt']
type Reply = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

/**
 * A language model whose replies come from a script instead of a network. Like a real model, it sees only the prompt and
 * the results of its calls.
 *
 * @param transcript A file to which everything sent to the model is appended.
 */
export function createScriptedModel(
  script: (prompt: string) => Script,
  transcript?: string,
): LanguageModel {
  let running: Script | undefined
  return new MockLanguageModelV4({
    provider: 'smithers',
    modelId: 'scripted',
    doGenerate: async ({ prompt, abortSignal }) => {
      // Like an answer over a network, it arrives later, and never after an abort.
      await nextTurn()
      abortSignal?.throwIfAborted()
      if (transcript !== undefined) appendFileSync(transcript, `${JSON.stringify(prompt)}\n`)
      const begins = !prompt.some(({ role }) => role === 'assistant')
      const step =
        begins || running === undefined
          ? (running = script(firstUserText(prompt))).next()
          : running.next(lastToolAnswer(prompt))
      return step.done === true ? answered(step.value) : called(step.value)
    },
  })
}

function called({ text, toolName, input }: ScriptedTurn): Reply {
  return {
    ...reply,
    content: [
      { type: 'text', text },
      {
        type: 'tool-call',
        toolCallId: `call-${crypto.randomUUID()}`,
        toolName,
        input: JSON.stringify(input),
      },
    ],
    finishReason: { unified: 'tool-calls', raw: undefined },
  }
}

function answered(answer: object): Reply {
  return {
    ...reply,
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    finishReason: { unified: 'stop', raw: undefined },
  }
}

const reply = {
  usage: {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  },
  warnings: [],
} satisfies Partial<Reply>

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
  const isJson = output.type === 'json'
  return { failed: !isJson, text: JSON.stringify(isJson ? output.value : output) }
}
