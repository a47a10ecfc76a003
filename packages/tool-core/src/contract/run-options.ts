import type { JournalOptions } from './journal-options.ts'
import type { OptionNames } from './known-options.ts'
import { expectedNetwork, isNetworkAccess, type NetworkAccess } from './network-access.ts'
import { longestTimerMs } from './longest-timer.ts'
import { type Given, OptionChecks, type WrongOption } from './option-checks.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import type { DurabilitySnapshot, IsolationOption } from './task-context.ts'

/** Options of `createToolContext`; each is optional. */
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
   * The hosts that commands may reach, and nothing else. Where commands cannot have a network of their own, they fail with
   * `TOOL_ISOLATION_UNAVAILABLE`. Not together with `allowNetwork: true`.
   *
   * @default `allowNetwork` decides
   */
  readonly network?: NetworkAccess | undefined
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

/** Of a context and of a run alike, so that the options of one can be handed to the other. */
const runOptions = {
  runId: true,
  nodeId: true,
  iteration: true,
  attempt: true,
  rootDir: true,
  protectedPaths: true,
  allowNetwork: true,
  network: true,
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
  recordContents: true,
  telemetry: true,
  logTimeoutMs: true,
  approvalTimeoutMs: true,
  maxWarningBytes: true,
} as const satisfies OptionNames<ToolContextOptions & { maxWarningBytes: number }>

/**
 * Refuses options that a run does not have.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function refuseUnknownRunOptions(options: ToolContextOptions): void {
  checksOf(options, 'Run: ').known(runOptions)
}

/**
 * Checks every option of a run that was given. A value that is only nearly right must not choose a default: the text
 * `'false'`, as an environment variable has it, must not open the network.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function checkRunOptions(options: ToolContextOptions): void {
  const checks = checksOf(options)
  checks.notNull(runOptions)
  checks.names('runId', 'nodeId', 'rootDir', 'keySecret')
  checks.texts('namespace')
  checks.wholeNumber('iteration', 0)
  checks.wholeNumber('attempt', 1)
  checks.flags('allowNetwork', 'errorStacks', 'previews', 'recordContents')
  checks.functions('durabilitySnapshot', 'onLogError', 'onApproval')
  checks.oneOf('keyScope', ['call', 'task'])
  checks.oneOf('safety', ['warn', 'reuse', 'strict'])
  checks.oneOf('lineage', ['auto', 'fresh', 'continued', 'journaled'])
  checks.amount('maxOutputBytes', 'bytes (10 MiB)', 10 * mebibyte)
  for (const name of ['maxInputBytes', 'maxInlineOutputBytes', 'maxWarningBytes']) {
    checks.amount(name, 'of bytes')
  }
  // A lease is renewed by a timer, and a longer one would keep the calls of a dead worker from being taken over.
  for (const name of ['timeoutMs', 'leaseMs'])
    checks.amount(name, 'milliseconds (one hour)', hourMs)
  for (const name of ['logTimeoutMs', 'approvalTimeoutMs']) {
    checks.amount(name, 'milliseconds', longestTimerMs)
  }
  checks.fits('protectedPaths', 'a list of paths', isListOfPaths)
  checks.fits('network', expectedNetwork, isNetworkAccess)
  if (options.allowNetwork === true && options.network !== undefined) {
    throw checks.wrong('network', 'left out with allowNetwork: true, which opens every host')
  }
  checks.fits('isolation', "'auto', 'require', 'none' or { require: […] }", isIsolation)
  checks.fits('log', `a ToolCallLog, which has ${logMethods.join(', ')}`, isLog)
  checks.fits('abortSignal', 'an AbortSignal', isAbortSignal)
  checks.fits('telemetry', 'false, or an object with beginCall', isTelemetry)
  checks.fits('redact', '{ keys, values, replace }', isObject)
}

const mebibyte = 1024 * 1024
const hourMs = 3_600_000
const logMethods = ['start', 'finish', 'renew', 'list', 'recover', 'prune', 'close'] as const

function checksOf(options: ToolContextOptions, prefix = ''): OptionChecks {
  const invalid = (what: string, details?: WrongOption): SmithersError =>
    new SmithersError('INVALID_INPUT', prefix + what, {
      ...(details && { details: { ...details } }),
    })
  return new OptionChecks(options as Given, invalid)
}

function isListOfPaths(value: unknown): boolean {
  return Array.isArray(value) && value.every((path) => typeof path === 'string' && path !== '')
}

function isIsolation(value: unknown): boolean {
  if (value === 'auto' || value === 'require' || value === 'none') return true
  return isObject(value) && Array.isArray(value['require'])
}

function isLog(value: unknown): boolean {
  return isObject(value) && logMethods.every((name) => typeof value[name] === 'function')
}

function isTelemetry(value: unknown): boolean {
  return value === false || (isObject(value) && typeof value['beginCall'] === 'function')
}

/** Also one of another realm, or of a library that brings its own. */
function isAbortSignal(value: unknown): boolean {
  return isObject(value) && typeof value['aborted'] === 'boolean'
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
