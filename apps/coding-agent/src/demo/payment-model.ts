import type { LanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'

type CallOptions = MockLanguageModelV4['doGenerateCalls'][number]
type Reply = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

/**
 * A language model whose manners come from a script: it pays, unless it is warned that an earlier attempt may have paid;
 * then it looks first. It knows only what it is told.
 */
export function createPaymentModel(order: string, cents: number): LanguageModel {
  return new MockLanguageModelV4({
    provider: 'smithers',
    modelId: 'scripted',
    doGenerate: async ({ prompt }) => reply(prompt, order, cents),
  })
}

async function reply(prompt: CallOptions['prompt'], order: string, cents: number): Promise<Reply> {
  const answer = lastAnswer(prompt)
  if (answer === null) {
    const warned = JSON.stringify(prompt).includes('[smithers:tool-resume-warning]')
    return warned ? call('find_payments', { order }) : call('charge', { order, cents })
  }
  const found = answer.find((payment) => payment.order === order)
  return found === undefined ? call('charge', { order, cents }) : said(JSON.stringify(found))
}

/** What the last tool answered, as a list of payments; null when none has been called. */
function lastAnswer(prompt: CallOptions['prompt']): readonly Found[] | null {
  const message = prompt.at(-1)
  const part = message?.role === 'tool' ? message.content.at(-1) : undefined
  if (part?.type !== 'tool-result' || part.output.type !== 'json') return null
  const value: unknown = part.output.value
  return (Array.isArray(value) ? value : [value]) as Found[]
}

/** A payment, as far as the model looks at it. */
interface Found {
  readonly order: string
}

function call(toolName: string, input: object): Reply {
  return replyWith(
    { type: 'tool-call', toolCallId: crypto.randomUUID(), toolName, input: JSON.stringify(input) },
    'tool-calls',
  )
}

function said(text: string): Reply {
  return replyWith({ type: 'text', text }, 'stop')
}

function replyWith(content: Reply['content'][number], unified: 'stop' | 'tool-calls'): Reply {
  return {
    content: [content],
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    },
    warnings: [],
  }
}
