import { consumeStream, pipeUIMessageStreamToResponse } from 'ai'
import express, { type Express } from 'express'
import type { Chat } from './chat.ts'

// oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 hands what they throw to its error handler.

/** The chat as an Express app: `POST /api/chat` for `useChat`, `GET /api/chat/ID` for a page that is loaded again. */
export function createChatApp(chat: Chat): Express {
  const app = express()
  app.use(express.json({ limit: '256kb' }))
  app.post('/api/chat', async (request, response) => {
    const stream = await chat.reply(request.body)
    // The turn ends and is stored even when the browser has gone.
    const consumeSseStream = consumeStream
    await pipeUIMessageStreamToResponse({ response, stream, consumeSseStream })
  })
  app.get('/api/chat/:id', async (request, response) => {
    response.json(await chat.history(request.params.id))
  })
  return app
}
