import { canonicalJson } from '../json/canonical-json.ts'
import { hashInput, idempotencyKey } from './idempotency-key.ts'
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
  if (taskScoped) {
    return { fingerprint, inputHash, taskScoped, keyAt: () => task.taskIdempotencyKey }
  }
  const { namespace } = policy
  const identity = { namespace, runId, nodeId, iteration, toolName, subject }
  return { fingerprint, inputHash, taskScoped, keyAt: (n) => idempotencyKey(identity, n) }
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
