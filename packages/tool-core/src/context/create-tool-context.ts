import { resolve } from 'node:path'
import { completeJournalOptions } from '../contract/journal-options.ts'
import { drive, type MaybePromise } from '../async/maybe-promise.ts'
import { attachJournal, journalOf } from '../journal/attempt-journal.ts'
import { taskIdempotencyKey } from '../history/call-identity.ts'
import {
  checkRunOptions,
  refuseUnknownRunOptions,
  type ToolContextOptions,
} from '../contract/run-options.ts'
import { frozenNetwork } from '../contract/network-access.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import type { TaskContext } from '../contract/task-context.ts'

/** The context of one attempt, with what its agent must know of earlier ones. */
export interface AttemptContext extends TaskContext {
  /**
   * What the agent must know of the effects of earlier attempts, in at most 4000 bytes; null when there are none. A
   * promise only with a log that answers later.
   */
  retryWarning(): MaybePromise<string | null>
}

/**
 * Creates the context of one task: hand it to `runWithToolContext`, or use `createToolRun`, which also has the retry
 * warning and the channel for fatal errors.
 *
 * @throws SmithersError `INVALID_INPUT` for a value out of range.
 */
export function createToolContext(options: ToolContextOptions = {}): AttemptContext {
  refuseUnknownRunOptions(options)
  return createContext(options, false)
}

/** The context of options given in place of a context; the object may hold other properties. */
export function createAmbientContext(options: ToolContextOptions): TaskContext {
  return createContext(options, false)
}

/** The context of a call outside any run. */
export function createEphemeralContext(): TaskContext {
  return createContext({}, true)
}

function createContext(options: ToolContextOptions, ephemeral: boolean): AttemptContext {
  checkRunOptions(options)
  const { runId = crypto.randomUUID(), nodeId = 'task', iteration = 0, attempt = 1 } = options
  const rootDir = resolve(options.rootDir ?? process.cwd())
  const snapshot = options.durabilitySnapshot
  const fields: TaskContext = {
    runId,
    nodeId,
    iteration,
    attempt,
    rootDir,
    protectedPaths: absolutePaths(rootDir, options.protectedPaths),
    allowNetwork: options.allowNetwork ?? false,
    network: options.network && frozenNetwork(options.network),
    maxOutputBytes: options.maxOutputBytes ?? 200_000,
    timeoutMs: options.timeoutMs ?? 60_000,
    isolation: options.isolation ?? 'auto',
    taskIdempotencyKey: taskIdempotencyKey({ runId, nodeId, iteration }),
    ephemeral,
    log: options.log ?? createMemoryLog(),
    durabilitySnapshot:
      snapshot === undefined ? noSnapshot : async (name, toolUseId) => snapshot(name, toolUseId),
  }
  // Not enumerable: a copy of the context is a new task.
  const context = Object.defineProperty(fields, 'retryWarning', {
    value: () => drive(journalOf(fields).retryWarning(4000)),
  }) as AttemptContext
  attachJournal(
    context,
    completeJournalOptions(options, {
      snapshots: snapshot !== undefined,
      startsEmpty: options.runId === undefined,
    }),
  )
  return Object.freeze(context)
}

async function noSnapshot(): Promise<undefined> {}

const noPaths: readonly string[] = Object.freeze([])

function absolutePaths(rootDir: string, paths: readonly string[] = noPaths): readonly string[] {
  return paths.length === 0 ? noPaths : Object.freeze(paths.map((path) => resolve(rootDir, path)))
}
