import { canonicalJson } from '../json/canonical-json.ts'
import { digest, keyedDigest } from '../json/digest.ts'
import { uuidV5 } from '../json/uuid-v5.ts'

/** What identifies the intent of a call, apart from which of several equal intents it is. */
export interface KeyMaterial {
  readonly namespace: string
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  readonly toolName: string
  /** {@link hashInput} of the parsed arguments, or `['key', …]` with what the tool's own `key` returned. */
  readonly subject: string | readonly ['key', unknown]
}

// The namespace of every key. Changing it, or the material below, would make retries of stored runs miss their calls.
const namespaceUuid = '8cbb28451a2344338bef47425b5415ae'

/**
 * SHA-256 (hex) of the canonical text of parsed arguments. With `secret` it is an HMAC, since the plain hash of a
 * low-entropy secret can be guessed.
 *
 * @throws SmithersError `TOOL_INPUT_NOT_CANONICAL`
 */
export function hashInput(args: unknown, secret?: string): string {
  const text = canonicalJson(args)
  return secret === undefined ? digest('sha256', text) : keyedDigest(secret, text)
}

/**
 * The idempotency key of a call: a UUID of 36 characters, the only shape that every provider accepts. The same for the
 * same intent in every attempt, whatever the order of the calls around it (durability.md §1.4).
 *
 * @param occurrence Which of several equal intents in the task this is, from 0.
 */
export function idempotencyKey(material: KeyMaterial, occurrence: number): string {
  const { namespace, runId, nodeId, iteration, toolName, subject } = material
  const text = canonicalJson([
    'smithers.tool-call',
    1,
    namespace,
    runId,
    nodeId,
    iteration,
    toolName,
    subject,
    occurrence,
  ])
  // UUIDv5 hashes with SHA-1; its input is a digest of fixed length, so nobody can choose a colliding prefix.
  return uuidV5(digest('sha256', text), namespaceUuid)
}

/** The documented key of a whole task, verbatim: one for all of its calls. */
export function taskIdempotencyKey(task: {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
}): string {
  return `smithers:${task.runId}:${task.nodeId}:${task.iteration}`
}
