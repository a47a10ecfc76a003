import { canonicalJson } from '../json/canonical-json.ts'
import { digest, keyedDigest, uuidV5 } from '../json/digest.ts'
import { isSmithersError, SmithersError } from '../errors/smithers-error.ts'
import type { TaskContext } from '../contract/task-context.ts'
import type { JournalPolicy } from '../contract/journal-options.ts'
import { notPromised } from '../async/not-promised.ts'
import type { KeyContext, ToolDefinition } from '../contract/tool-definition.ts'

/** What makes two calls of a task the same intent, whichever of several equal ones they are. */
export interface CallIdentity {
  /** Equal for equal intents of the task, in this process. */
  readonly fingerprint: string
  /** Null when the arguments have no canonical form and the tool has a key of its own. */
  readonly inputHash: string | null
  /** Equal calls share the documented key of the task, so the key alone does not tell them apart. */
  readonly taskScoped: boolean
  /** The key is made from the arguments, so that equal hashes are equal intents. */
  readonly keyedByInput: boolean
  /** The idempotency key of the intent's n-th call, from 0. */
  keyAt(occurrence: number): string
}

/**
 * Derives what identifies a call from its parsed arguments.
 *
 * @throws SmithersError `TOOL_INPUT_NOT_CANONICAL` when neither the arguments nor what `key` returned can be hashed.
 */
export function identifyCall(
  definition: ToolDefinition,
  task: TaskContext,
  policy: JournalPolicy,
  args: unknown,
): CallIdentity {
  const { key } = definition
  const { runId, nodeId, iteration } = task
  const toolName = definition.metadata.name
  const taskScoped = key === 'task' || (key === 'call' && policy.keyScope === 'task')
  const inputHash = hashOf(args, policy.keySecret, key !== 'call')

  let subject: string | readonly ['key', unknown]
  let fingerprint: string
  if (typeof key === 'function') {
    const keyContext: KeyContext = { runId, nodeId, iteration, toolName }
    subject = ['key', keyOf(key, args, keyContext)]
    fingerprint = `${toolName}\n${canonicalJson(subject)}`
  } else {
    subject = inputHash ?? ''
    fingerprint = `${toolName}\n${subject}`
  }
  const found = { fingerprint, inputHash, taskScoped, keyedByInput: key === 'call' }
  if (taskScoped) {
    return { ...found, keyAt: () => task.taskIdempotencyKey }
  }
  const { namespace } = policy
  const identity = { namespace, runId, nodeId, iteration, toolName, subject }
  return { ...found, keyAt: (n) => idempotencyKey(identity, n) }
}

function keyOf(
  key: Exclude<ToolDefinition['key'], string>,
  args: unknown,
  context: KeyContext,
): unknown {
  const { toolName } = context
  try {
    return notPromised(key(args, context))
  } catch (cause) {
    throw new SmithersError(
      'INVALID_TOOL',
      `Tool "${toolName}" was not run: its key failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      { details: { toolName }, cause, effect: 'none' },
    )
  }
}

function hashOf(args: unknown, secret: string | undefined, optional: boolean): string | null {
  try {
    return hashInput(args, secret)
  } catch (error) {
    if (optional && isSmithersError(error)) return null
    throw error
  }
}

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
 * same intent in every attempt, whatever the order of the calls around it.
 *
 * @param occurrence Which of several equal intents in the task this is, from 0.
 */
export function idempotencyKey(material: KeyMaterial, occurrence: number): string {
  const { namespace, runId, nodeId, iteration, toolName, subject } = material
  const parts = [namespace, runId, nodeId, iteration, toolName, subject, occurrence]
  const whole = ['smithers.tool-call', 1, ...parts]
  // Of well-formed texts and whole numbers, JSON.stringify makes the canonical text, for a fifth of the time.
  const text = parts.every(isPlain) ? JSON.stringify(whole) : canonicalJson(whole)
  // UUIDv5 hashes with SHA-1; its input is a digest of fixed length, so a colliding prefix cannot be chosen.
  return uuidV5(digest('sha256', text), namespaceUuid)
}

function isPlain(part: unknown): boolean {
  return typeof part === 'string' ? part.isWellFormed() : Number.isSafeInteger(part)
}

/** The documented key of a whole task, verbatim: one for all of its calls. */
export function taskIdempotencyKey(task: {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
}): string {
  return `smithers:${task.runId}:${task.nodeId}:${task.iteration}`
}
