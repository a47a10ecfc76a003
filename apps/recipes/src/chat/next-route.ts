import { consumeStream, createUIMessageStreamResponse } from 'ai'
import type { Chat } from './chat.ts'
import { RefusedRequest } from './refused-request.ts'

/** A route handler of Next's app router. */
export type RouteHandler = (request: Request) => Promise<Response>

/**
 * The handlers of `app/api/chat/route.ts`:
 *
 * @example
 * export const runtime = 'nodejs'
 * export const { GET, POST } = createChatRoute(chat)
 */
export function createChatRoute(chat: Chat): {
  readonly GET: RouteHandler
  readonly POST: RouteHandler
} {
  return {
    async POST(request) {
      try {
        const stream = await chat.reply(await request.json())
        // The turn ends and is stored even when the browser has gone.
        return createUIMessageStreamResponse({ stream, consumeSseStream: consumeStream })
      } catch (error) {
        if (error instanceof RefusedRequest || error instanceof SyntaxError) {
          const status = error instanceof RefusedRequest ? error.status : 400
          return Response.json({ error: error.message }, { status })
        }
        throw error
      }
    },
    async GET(request) {
      const chatId = new URL(request.url).searchParams.get('id') ?? ''
      return Response.json(await chat.history(chatId))
    },
  }
}
