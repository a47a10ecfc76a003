import { untilRead } from './until-read.ts'

/** Lets a number of requests be under way at once, and refuses the others. */
export class RequestCapacity {
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  /** Serves a request, or answers 503. It is under way until its answer has been read, or its client has left. */
  async serve(serve: () => Promise<Response>): Promise<Response> {
    if (this.#free === 0) return busy()
    this.#free -= 1
    return untilRead(serve, () => (this.#free += 1))
  }
}

function busy(): Response {
  const message = 'Too many calls at once. Try again in a second.'
  const body = { jsonrpc: '2.0', error: { code: -32_000, message }, id: null }
  return Response.json(body, { status: 503, headers: { 'Retry-After': '1' } })
}
