import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { NetworkAccess } from './network-access.ts'

/** How strongly the operating system must confine the processes of a tool; read by the sandbox. */
export type IsolationOption = 'auto' | 'require' | 'none' | { readonly require: readonly string[] }
/** Called after `execute` of every tool with a side effect, with the tool's name and the id of the call. */
export type DurabilitySnapshot = (name: string, toolUseId: string) => unknown
/** What all calls of one task share. Frozen. */
export interface TaskContext {
  /** The run. */
  readonly runId: string
  /** The task that calls tools. */
  readonly nodeId: string
  /** Loop iteration, from 0. */
  readonly iteration: number
  /** Attempt of the task, from 1. */
  readonly attempt: number
  /** Sandbox root, absolute. @default process.cwd() */
  readonly rootDir: string
  /** Absolute paths that tools may read but not change, in addition to the sandbox's protected names. @default [] */
  readonly protectedPaths: readonly string[]
  /** Whether commands may use the network. @default false */
  readonly allowNetwork: boolean
  /** The hosts that commands may reach, and nothing else. @default undefined: `allowNetwork` decides */
  readonly network: NetworkAccess | undefined
  /** Limit of inputs, outputs and of what the log stores of each, in bytes. @default 200_000 */
  readonly maxOutputBytes: number
  /** Time limit of the processes that tools start, in milliseconds. @default 60_000 */
  readonly timeoutMs: number
  /** @default 'auto' */
  readonly isolation: IsolationOption
  /** `smithers:RUN:NODE:ITERATION`, the documented key of the whole task. Prefer `idempotencyKey` of the call. */
  readonly taskIdempotencyKey: string
  /** True outside any run: `runId` is random, so keys do not survive a restart. */
  readonly ephemeral: boolean
  /** Where the calls of this task are journaled. */
  readonly log: ToolCallLog
  /** Does nothing unless an engine supplied one. */
  readonly durabilitySnapshot: (name: string, toolUseId: string) => Promise<unknown>
}

/** A message of the conversation that led to a call, as the AI SDK hands it to a tool. */
export interface ConversationMessage {
  readonly role: string
  readonly content: unknown
}

/** What `execute` gets as its second parameter: the task, and this call. Frozen. */
export interface ToolContext<Context = unknown> extends TaskContext {
  /**
   * The same for the same call in every attempt, and for no other call of the task: a UUID of 36 characters. Pass it to
   * services that take an idempotency key.
   */
  readonly idempotencyKey: string
  readonly toolName: string
  readonly sideEffect: boolean
  readonly idempotent: boolean
  /** Position of the call in its attempt, from 1; equals `seq` of its row in the log. */
  readonly seq: number
  /** Which of several equal calls of the task this is, from 0. */
  readonly occurrence: number
  /** The AI SDK's id of the call. */
  readonly toolCallId: string
  readonly messages: readonly ConversationMessage[]
  /** Aborted when the agent, the run or the tool's own time limit ends the call. */
  readonly abortSignal: AbortSignal
  /** The AI SDK's `context` (7), of the tool's `contextSchema`, or `experimental_context` (5, 6). */
  readonly context: Context
  /** The AI SDK's `experimental_sandbox` (7). */
  readonly experimental_sandbox: unknown
}
