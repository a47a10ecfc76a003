import type { Refusal } from './guards.ts'

/** A body, or why it is refused. */
export type JsonBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly refusal: Refusal }

/** Reads a body that must be JSON: what a form of another site can send is none. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<JsonBody> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    return refused(415, 'NOT_JSON', 'Send JSON, with Content-Type: application/json.')
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return refused(413, 'TOO_LARGE', `Send at most ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(chunks).toString()) as unknown }
  } catch {
    return refused(400, 'INVALID_REQUEST', 'The body is not valid JSON.')
  }
}

function refused(status: Refusal['status'], code: Refusal['code'], message: string): JsonBody {
  return { ok: false, refusal: { status, code, message } }
}
