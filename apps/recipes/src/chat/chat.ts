import { closeTools, createBuiltinTools } from '@smithers/builtin-tools'
import { approvalFor, createToolRun, type ToolCallLog } from '@smithers/tool-core'
import {
  consumeStream,
  convertToModelMessages,
  generateId,
  isStepCount,
  type LanguageModel,
  ToolLoopAgent,
  toUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import type { ChatStore } from './chat-store.ts'
import { lacksOutcome, parseClientRequest, withClientMessage } from './client-message.ts'
import { placeOrder } from './place-order.ts'
import { storedAnswer } from './stored-answer.ts'
import { createTurns } from './turns.ts'

/** What a server opens once, and closes when it ends. */
export interface Chat {
  /**
   * Answers what a client sent, as a stream for `useChat`. Read the stream to its end, or cancel it: the next request of
   * the chat waits for that.
   *
   * @throws RefusedRequest with the status to answer with
   */
  reply(request: unknown): Promise<ReadableStream<UIMessageChunk>>
  history(chatId: string): Promise<readonly UIMessage[]>
  close(): Promise<void>
}

export interface ChatOptions {
  readonly model: LanguageModel
  /** The folder that the tools read. */
  readonly rootDir: string
  readonly log: ToolCallLog
  readonly store: ChatStore
}

export function createChat(options: ChatOptions): Chat {
  const { log, store } = options
  const opened = { ...openAgent(options), ...options }
  const enterTurn = createTurns()
  return {
    async reply(request) {
      const { id, message } = parseClientRequest(request)
      const leave = await enterTurn(id)
      try {
        let chat = await store.load(id)
        let messages = withClientMessage(chat.messages, message)
        if (message.role === 'user' && lacksOutcome(chat.messages.at(-1))) {
          // The server stopped after a yes. That turn ends first, in its own run, whose log knows what was done.
          await consumeStream({
            stream: await answer(opened, id, [...chat.messages], chat.version),
          })
          chat = await store.load(id)
          messages = withClientMessage(chat.messages, message)
        }
        const last = messages.at(-1)
        if (last?.role === 'assistant' && !lacksOutcome(last)) {
          leave()
          return storedAnswer(last, message.parts.length)
        }
        return await answer(opened, id, [...messages], chat.version, leave)
      } catch (error) {
        leave()
        throw error
      }
    },
    history: async (chatId) => (await store.load(chatId)).messages,
    async close() {
      await closeTools(opened.files)
      await log.close()
    },
  }
}

function openAgent({ model, rootDir }: ChatOptions) {
  // One bundle for the server: each has a sandbox of its own.
  const files = createBuiltinTools({ rootDir, only: ['read', 'grep'] })
  const tools = { ...files, place_order: placeOrder }
  const agent = new ToolLoopAgent({
    model,
    tools,
    toolApproval: approvalFor(tools),
    stopWhen: isStepCount(8),
  })
  return { files, tools, agent }
}

/** Stores the messages, answers them, and stores the answer. */
async function answer(
  { agent, tools, log, store }: ReturnType<typeof openAgent> & ChatOptions,
  id: string,
  messages: UIMessage[],
  version: number,
  onEnd?: () => void,
): Promise<ReadableStream<UIMessageChunk>> {
  // Before anything runs: a yes survives the process, and so does a question.
  await store.save(id, messages, version)

  // One run for each message of the user. What is sent again (a double click, a lost connection, an approval, "answer
  // anew") is the same work and repeats no effect; the next message is new work, and may order the same thing again.
  const asked = messages.findLast(({ role }) => role === 'user')
  const runId = `chat:${id}:${asked?.id}`
  const [last] = await log.list({ runId, order: 'descending', limit: 1 })
  const attempt = (last?.attempt ?? 0) + 1
  const run = createToolRun({ runId, attempt, log, abortSignal: AbortSignal.timeout(120_000) })
  try {
    const { stream } = await run.agent(agent).stream({
      messages: await convertToModelMessages(messages, { tools }),
    })
    return toUIMessageStream({
      stream,
      originalMessages: messages,
      generateMessageId: generateId,
      async onEnd({ messages: answered }) {
        try {
          await store.save(id, answered, version + 1)
        } finally {
          await run.close().finally(onEnd)
        }
      },
    })
  } catch (error) {
    await run.close()
    throw error
  }
}
