import type { CallAbort } from '../async/call-abort.ts'
import type { ConversationMessage, TaskContext, ToolContext } from '../contract/task-context.ts'
import type { ToolCallOptions } from '../contract/tool-call-options.ts'
import { callRecord, type CallRecord } from '../journal/call-record.ts'

/** Makes what the tool gets as its second parameter. */
export function createCallContext(
  task: TaskContext,
  record: CallRecord,
  options: ToolCallOptions,
  abort: CallAbort,
): ToolContext {
  return Object.freeze(new CallContext(task, record, options, abort))
}

/** Fields one by one, and one getter for all: a getter of each object's own costs more than the rest of the object. */
class CallContext implements ToolContext {
  readonly runId: string
  readonly nodeId: string
  readonly iteration: number
  readonly attempt: number
  readonly rootDir: string
  readonly protectedPaths: readonly string[]
  readonly allowNetwork: boolean
  readonly network: TaskContext['network']
  readonly maxOutputBytes: number
  readonly timeoutMs: number
  readonly isolation: TaskContext['isolation']
  readonly taskIdempotencyKey: string
  readonly ephemeral: boolean
  readonly log: TaskContext['log']
  readonly durabilitySnapshot: TaskContext['durabilitySnapshot']
  readonly idempotencyKey: string
  readonly toolName: string
  readonly sideEffect: boolean
  readonly idempotent: boolean
  readonly seq: number
  readonly occurrence: number
  readonly toolCallId: string
  readonly messages: readonly ConversationMessage[]
  readonly context: unknown
  readonly experimental_sandbox: unknown
  declare readonly abortSignal: AbortSignal
  readonly [callRecord]: CallRecord
  readonly #abort: CallAbort

  constructor(task: TaskContext, record: CallRecord, options: ToolCallOptions, abort: CallAbort) {
    const { row } = record
    this[callRecord] = record
    this.runId = task.runId
    this.nodeId = task.nodeId
    this.iteration = task.iteration
    this.attempt = task.attempt
    this.rootDir = task.rootDir
    this.protectedPaths = task.protectedPaths
    this.allowNetwork = task.allowNetwork
    this.network = task.network
    this.maxOutputBytes = task.maxOutputBytes
    this.timeoutMs = task.timeoutMs
    this.isolation = task.isolation
    this.taskIdempotencyKey = task.taskIdempotencyKey
    this.ephemeral = task.ephemeral
    this.log = task.log
    this.durabilitySnapshot = task.durabilitySnapshot
    this.idempotencyKey = row.idempotencyKey ?? ''
    this.toolName = row.toolName
    this.sideEffect = row.sideEffect
    this.idempotent = row.idempotent
    this.seq = row.seq
    this.occurrence = row.occurrence
    this.toolCallId = options.toolCallId
    this.messages = options.messages
    this.context = options.context ?? options.experimental_context
    this.experimental_sandbox = options.experimental_sandbox
    this.#abort = abort
    Object.defineProperty(this, 'abortSignal', abortSignal)
  }

  static signalOf(context: CallContext): AbortSignal {
    return context.#abort.signal
  }
}

/** An own property, so that a copy of the context has it; most tools never look, and the signal is made by then. */
const abortSignal: PropertyDescriptor = {
  enumerable: true,
  get(this: CallContext) {
    return CallContext.signalOf(this)
  },
}
