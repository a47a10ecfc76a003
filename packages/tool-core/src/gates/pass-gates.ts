import { abortedError, waitTimeoutError } from '../journal/call-errors.ts'
import type { JournalPolicy } from '../contract/journal-options.ts'
import { settled, type Steps } from '../async/maybe-promise.ts'
import { notPromised } from '../async/not-promised.ts'
import { withTimeout } from '../async/with-timeout.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { hashInput } from '../history/call-identity.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { CallAbort } from '../async/call-abort.ts'
import type { CallTrace } from '../journal/call-trace.ts'
import type { StartRow, ToolCallLog } from '../log/tool-call-log.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { ConversationMessage } from '../contract/task-context.ts'
import type { TaskContext } from '../contract/task-context.ts'
import { approveCall } from '../approvals/approve-call.ts'
import { approveOutsideRun } from './approve-outside-run.ts'
import { type ApprovedCall, unlessAborted } from '../approvals/approvable-call.ts'
import { executionsOf, limitError } from './execution-limit.ts'
import { GateReservation } from './gate-reservation.ts'
import type {
  ApprovalSettings,
  CacheSettings,
  GateSettings,
  LimitSettings,
} from '../contract/gate-options.ts'
import type { CachedResult, ResultCache } from './result-cache.ts'
import { gatesOfConversation, gatesOutsideRun, warnOfGatesOutsideRun } from './gates-outside-run.ts'
import { approveWithinLimit } from './approve-within-limit.ts'
import { attemptGatesOf, RunGates, runGatesOf } from './run-gates.ts'

/** A call before the gates of its tool. */
export interface CallAtGates {
  readonly definition: ToolDefinition
  readonly gates: GateSettings
  readonly task: TaskContext
  readonly policy: JournalPolicy
  /** The log of the task; an answer that does not come is an error in time. */
  readonly log: ToolCallLog
  readonly abort: CallAbort
  readonly row: StartRow
  /** What watches the call. */
  readonly trace: CallTrace | undefined
  /** The same for the same call in every attempt, and for no other call of the run. */
  readonly callKey: string
  readonly args: unknown
  readonly messages: readonly ConversationMessage[]
  readonly context: () => ToolContext
}

/** What the gates made of a call that they did not refuse. */
export type Admission =
  /** It runs, with these arguments; the reservation is settled when it has ended. */
  | { readonly kind: 'run'; readonly args: unknown; readonly reservation: GateReservation }
  /** An equal call has the result. */
  | { readonly kind: 'answer'; readonly args: unknown; readonly result: CachedResult }

/**
 * Leads a call through the gates of its tool, in this order: limit, approval, breaker, cache. What an earlier gate
 * reserved for the call is released when a later one refuses it.
 *
 * @throws SmithersError `TOOL_LIMIT_REACHED`, `TOOL_APPROVAL_REQUIRED`, `TOOL_APPROVAL_REJECTED`, `TOOL_CIRCUIT_OPEN`,
 *   or what the equal call threw whose result it waited for.
 */
export function* passGates(call: CallAtGates): Steps<Admission> {
  const reservation = new GateReservation()
  let runs = false
  try {
    const mayRun = yield* reserveSlot(call, reservation)
    const { args } = yield* approve(call, reservation, mayRun)
    yield* enterBreaker(call, reservation)
    const result = yield* visitCache(call, reservation, args, mayRun)
    if (result !== undefined) return { kind: 'answer', args, result }
    runs = true
    return { kind: 'run', args, reservation }
  } finally {
    if (!runs) reservation.release()
  }
}

/** What the calls of the run share; outside a run, those of the conversation. */
function sharedGates({ task, definition, messages }: CallAtGates): RunGates {
  if (!task.ephemeral) return runGatesOf(task)
  warnOfGatesOutsideRun(definition)
  return gatesOutsideRun(definition, messages)
}

/** Takes a slot of the tool's limit; false when the call may only be answered from the cache. */
function* reserveSlot(call: CallAtGates, reservation: GateReservation): Steps<boolean> {
  const { limit } = call.gates
  if (limit === undefined) return true
  const { task, policy, definition } = call
  const { name } = definition.metadata
  const fresh = task.ephemeral || policy.startsEmpty
  const executions = sharedGates(call).limitOf(name)
  const earlier = function* (): Steps<readonly ToolCallRow[]> {
    return fresh ? [] : yield* executionsOf(call.log, task.runId, name)
  }
  const slot = yield* executions.reserve(limit, earlier)
  if (slot === undefined) {
    // What the cache answers is not an execution.
    if (!mayBeCached(call)) throw limitError(name, limit.most)
    return false
  }
  reservation.slot = slot
  reservation.counted = limit.counted
  return true
}

function* approve(
  call: CallAtGates,
  reservation: GateReservation,
  mayRun: boolean,
): Steps<Pick<ApprovedCall, 'args'>> {
  const { approval, limit } = call.gates
  if (approval === undefined) return call
  const approved = yield* ask(call, approval, mayRun ? limit : undefined)
  if (approved === undefined) return call
  reservation.approval = approved
  return approved
}

function* ask(
  call: CallAtGates,
  approval: ApprovalSettings,
  limit: LimitSettings | undefined,
): Steps<ApprovedCall | undefined> {
  if (call.task.ephemeral) return yield* approveOutsideRun(call, approval)
  if (limit === undefined) return yield* unlessAborted(call, approveCall(call, approval))
  const executions = sharedGates(call).limitOf(call.definition.metadata.name)
  return yield* approveWithinLimit(call, approval, limit, executions)
}

function* enterBreaker(call: CallAtGates, reservation: GateReservation): Steps<void> {
  const { breaker: settings } = call.gates
  if (settings === undefined) return
  const { definition, task } = call
  const ofAttempt = settings.scope === 'invoke' && !task.ephemeral
  const gates = ofAttempt ? attemptGatesOf(task) : sharedGates(call)
  const breaker = gates.breakerOf(definition, definition.metadata.name, settings)
  reservation.breaker = yield* unlessAborted(call, breaker.enter())
}

/** The result of an equal call; undefined when this one runs. */
function* visitCache(
  call: CallAtGates,
  reservation: GateReservation,
  args: unknown,
  mayRun: boolean,
): Steps<CachedResult | undefined> {
  const { cache: settings, limit } = call.gates
  if (settings === undefined) return undefined
  const key = cacheKey(call, settings, args)
  for (;;) {
    const visit = cacheOf(call, settings).visit(key, call.row.callToken, settings)
    if (visit.kind === 'hit') return visit.result
    if (visit.kind === 'lead') {
      reservation.flight = visit.flight
      if (!mayRun && limit !== undefined) throw limitError(call.row.toolName, limit.most)
      return undefined
    }
    const result = yield* settled(resultOf(call, visit.result))
    // A result that cannot be shared is made anew by every call that asked.
    if (result !== undefined) return result
  }
}

/** Waits for an equal call, but no longer than this one may take. */
function resultOf<Result>(call: CallAtGates, running: Promise<Result>): Promise<Result> {
  const { definition, context } = call
  const { name } = definition.metadata
  return withTimeout(running, {
    timeoutMs: definition.timeoutMs,
    timedOut: (timeoutMs) => waitTimeoutError(name, timeoutMs),
    signal: context().abortSignal,
    aborted: (reason) => abortedError(name, reason),
  })
}

function cacheOf(call: CallAtGates, { scope }: CacheSettings): ResultCache {
  const { task, definition, messages } = call
  if (!task.ephemeral) {
    return (scope === 'run' ? runGatesOf(task) : attemptGatesOf(task)).cacheOf(definition)
  }
  warnOfGatesOutsideRun(definition)
  // Calls that nothing connects may be those of different users, who must not see each other's results.
  return (gatesOfConversation(messages) ?? new RunGates()).cacheOf(definition)
}

function mayBeCached(call: CallAtGates): boolean {
  const { cache: settings } = call.gates
  return settings !== undefined && cacheOf(call, settings).has(cacheKey(call, settings, call.args))
}

function cacheKey(call: CallAtGates, { keyFn }: CacheSettings, args: unknown): string {
  if (keyFn === undefined) {
    const { inputHash } = call.row
    return args === call.args && inputHash !== null ? inputHash : hashInput(args, undefined)
  }
  const { name } = call.definition.metadata
  try {
    return canonicalJson(notPromised(keyFn(args)))
  } catch (cause) {
    throw new SmithersError(
      'INVALID_TOOL',
      `Tool "${name}" was not run: its cache.keyFn failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      { details: { toolName: name }, cause, effect: 'none' },
    )
  }
}
