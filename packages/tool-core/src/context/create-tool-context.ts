import { resolve } from 'node:path'
import { type JournalOptions, resolveJournalPolicy } from '../contract/journal-options.ts'
import { drive, type MaybePromise } from '../async/maybe-promise.ts'
import { attachJournal, journalOf } from '../journal/attempt-journal.ts'
import { taskIdempotencyKey } from '../history/call-identity.ts'
import { complaintOfUnknown, type OptionNames } from '../contract/known-options.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { DurabilitySnapshot, IsolationOption, TaskContext } from '../contract/task-context.ts'

/** Options of {@link createToolContext}; each is optional. */
export interface ToolContextOptions extends JournalOptions {
  /** @default a random UUID, so that keys do not survive a restart */
  readonly runId?: string | undefined
  /** @default 'task' */
  readonly nodeId?: string | undefined
  /** @default 0 */
  readonly iteration?: number | undefined
  /** @default 1 */
  readonly attempt?: number | undefined
  /** @default process.cwd() */
  readonly rootDir?: string | undefined
  /**
   * Paths that tools may read but not change, such as the program of the run itself. Relative paths start at the root.
   *
   * @default []
   */
  readonly protectedPaths?: readonly string[] | undefined
  /** @default false */
  readonly allowNetwork?: boolean | undefined
  /**
   * Bytes, at most 10 MiB. What the log stores of a larger payload, size, SHA-256 and error code, takes some 150 bytes
   * however small the limit is.
   *
   * @default 200_000
   */
  readonly maxOutputBytes?: number | undefined
  /** Milliseconds, at most one hour. @default 60_000 */
  readonly timeoutMs?: number | undefined
  /** @default 'auto' */
  readonly isolation?: IsolationOption | undefined
  /** @default a log in memory */
  readonly log?: ToolCallLog | undefined
  readonly durabilitySnapshot?: DurabilitySnapshot | undefined
}

/** The context of one attempt, with what its agent must know of earlier ones. */
export interface AttemptContext extends TaskContext {
  /**
   * What the agent must know of the effects of earlier attempts, in at most 4000 bytes; null when there are none. A
   * promise only with a log that answers later.
   */
  retryWarning(): MaybePromise<string | null>
}

/** Of a context and of a run alike, so that the options of one can be handed to the other. */
const runOptions = {
  runId: true,
  nodeId: true,
  iteration: true,
  attempt: true,
  rootDir: true,
  protectedPaths: true,
  allowNetwork: true,
  maxOutputBytes: true,
  timeoutMs: true,
  isolation: true,
  log: true,
  durabilitySnapshot: true,
  namespace: true,
  keyScope: true,
  keySecret: true,
  safety: true,
  lineage: true,
  redact: true,
  maxInputBytes: true,
  errorStacks: true,
  leaseMs: true,
  abortSignal: true,
  onLogError: true,
  maxInlineOutputBytes: true,
  onApproval: true,
  previews: true,
  logTimeoutMs: true,
  approvalTimeoutMs: true,
  maxWarningBytes: true,
} as const satisfies OptionNames<ToolContextOptions & { maxWarningBytes: number }>

const logMethods = ['start', 'finish', 'renew', 'list', 'recover', 'prune', 'close'] as const

const mebibyte = 1024 * 1024
const limits = {
  maxOutputBytes: { fallback: 200_000, most: 10 * mebibyte, unit: 'bytes (10 MiB)' },
  timeoutMs: { fallback: 60_000, most: 3_600_000, unit: 'milliseconds (one hour)' },
} as const

/**
 * Creates the context of one task: hand it to `runWithToolContext`, or use `createToolRun`, which also has the retry
 * warning and the channel for fatal errors.
 *
 * @throws SmithersError `INVALID_INPUT` for a value out of range.
 */
export function createToolContext(options: ToolContextOptions = {}): AttemptContext {
  const complaint = complaintOfUnknown(options, runOptions)
  if (complaint !== null) throw new SmithersError('INVALID_INPUT', `Run: ${complaint}`)
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
  const runId = text('runId', options.runId === undefined ? crypto.randomUUID() : options.runId)
  const nodeId = text('nodeId', options.nodeId === undefined ? 'task' : options.nodeId)
  const iteration = integer('iteration', options.iteration === undefined ? 0 : options.iteration, 0)
  const snapshot = options.durabilitySnapshot
  const rootDir = resolve(
    text('rootDir', options.rootDir === undefined ? process.cwd() : options.rootDir),
  )
  const fields: TaskContext = {
    runId,
    nodeId,
    iteration,
    attempt: integer('attempt', options.attempt === undefined ? 1 : options.attempt, 1),
    rootDir,
    protectedPaths: absolutePaths(rootDir, options.protectedPaths ?? []),
    allowNetwork: flag(
      'allowNetwork',
      options.allowNetwork === undefined ? false : options.allowNetwork,
    ),
    maxOutputBytes: limited('maxOutputBytes', options.maxOutputBytes),
    timeoutMs: limited('timeoutMs', options.timeoutMs),
    isolation: isolationOption(options.isolation === undefined ? 'auto' : options.isolation),
    taskIdempotencyKey: taskIdempotencyKey({ runId, nodeId, iteration }),
    ephemeral,
    log: usableLog(options.log === undefined ? createMemoryLog() : options.log),
    durabilitySnapshot:
      snapshot === undefined ? noSnapshot : async (name, toolUseId) => snapshot(name, toolUseId),
  }
  // Not enumerable: a copy of the context is a new task.
  const context = Object.defineProperty(fields, 'retryWarning', {
    value: () => drive(journalOf(fields).retryWarning(4000)),
  }) as AttemptContext
  refuseNull(options)
  attachJournal(
    context,
    resolveJournalPolicy(options, {
      snapshots: snapshot !== undefined,
      startsEmpty: options.runId === undefined,
    }),
  )
  return Object.freeze(context)
}

/** Null is no default: a value that was lost on its way here must not choose one. */
function refuseNull(options: ToolContextOptions): void {
  const given: Readonly<Record<string, unknown>> = { ...options }
  for (const name of Object.keys(given)) {
    if (given[name] === null && Object.hasOwn(runOptions, name)) {
      throw invalid(name, null, 'left out or have a value')
    }
  }
}

async function noSnapshot(): Promise<undefined> {}

function text(name: string, value: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalid(name, value, 'a non-empty string')
}

function absolutePaths(rootDir: string, paths: readonly string[]): readonly string[] {
  if (Array.isArray(paths) && paths.every((path) => typeof path === 'string' && path !== '')) {
    return Object.freeze(paths.map((path) => resolve(rootDir, path)))
  }
  throw invalid('protectedPaths', paths, 'a list of paths')
}

/** Not only truthy: the text 'false', as an environment variable has it, must not open the network. */
function flag(name: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw invalid(name, value, 'true or false')
}

function isolationOption(value: IsolationOption): IsolationOption {
  if (value === 'auto' || value === 'require' || value === 'none') return value
  if (typeof value === 'object' && value !== null && Array.isArray(value.require)) return value
  throw invalid('isolation', value, "'auto', 'require', 'none' or { require: […] }")
}

function usableLog(log: ToolCallLog): ToolCallLog {
  const lacking = logMethods.filter((name) => typeof log?.[name] !== 'function')
  if (lacking.length === 0) return log
  throw invalid('log', log, `a ToolCallLog, which has ${logMethods.join(', ')}`)
}

function integer(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value
  throw invalid(name, value, `an integer of at least ${least}`)
}

function limited(name: keyof typeof limits, value: number | undefined): number {
  const { fallback, most, unit } = limits[name]
  const given = value === undefined ? fallback : value
  if (Number.isFinite(given) && given > 0 && given <= most) return given
  throw invalid(name, given, `a positive number of at most ${most} ${unit}`)
}

function invalid(name: string, value: unknown, expected: string): SmithersError {
  return new SmithersError('INVALID_INPUT', `${name} must be ${expected}, got ${shown(value)}.`, {
    details: { option: name, value: shown(value) },
  })
}

/** Text in quotation marks: that it is text, or empty, is often what is wrong with it. */
function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
