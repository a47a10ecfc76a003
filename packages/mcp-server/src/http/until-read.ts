/** Answers a request, and calls `end` once: when the answer has been read, its client has left, or there is none. */
export async function untilRead(
  serve: () => Promise<Response>,
  end: () => void,
): Promise<Response> {
  let isOver = false
  const endOnce = (): void => {
    if (!isOver) end()
    isOver = true
  }
  try {
    const response = await serve()
    if (response.body !== null) return new Response(watched(response.body, endOnce), response)
    endOnce()
    return response
  } catch (error) {
    endOnce()
    throw error
  }
}

function watched(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        controller.error(error)
      }
    },
    async cancel(reason) {
      end()
      await reader.cancel(reason)
    },
  })
}
