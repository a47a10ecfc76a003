import { closeTools, createBuiltinTools } from '@smithers/builtin-tools'
import { approvalFor, createToolRun, type ToolCallLog } from '@smithers/tool-core'
import {
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
import { parseClientRequest, withClientMessage } from './client-message.ts'
import { placeOrder } from './place-order.ts'

/** What a server opens once, and closes when it ends. */
export interface Chat {
  /** Answers what a client sent, as a stream for `useChat`. */
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

export function createChat({ model, rootDir, log, store }: ChatOptions): Chat {
  // One bundle for the server: each has a sandbox of its own.
  const files = createBuiltinTools({ rootDir, only: ['read', 'grep'] })
  const tools = { ...files, place_order: placeOrder }
  const agent = new ToolLoopAgent({
    model,
    tools,
    toolApproval: approvalFor(tools),
    stopWhen: isStepCount(8),
  })
  return {
    async reply(request) {
      const { id, message } = parseClientRequest(request)
      const messages = [...withClientMessage(await store.load(id), message)]
      // Before anything runs: a yes survives the process, and so does a question.
      await store.save(id, messages)

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
          onEnd: async ({ messages: answered }) => {
            await store.save(id, answered)
            await run.close()
          },
        })
      } catch (error) {
        await run.close()
        throw error
      }
    },
    history: (chatId) => store.load(chatId),
    async close() {
      await closeTools(files)
      await log.close()
    },
  }
}
