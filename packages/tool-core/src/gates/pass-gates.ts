import { abortedError, waitTimeoutError } from '../journal/call-errors.ts'
import type { JournalPolicy } from '../contract/journal-options.ts'
import { chain, isThenable, rescue } from '../async/maybe-promise.ts'
import { notPromised } from '../async/not-promised.ts'
import { withTimeout } from '../async/with-timeout.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { hashInput } from '../history/idempotency-key.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { StartRow } from '../log/tool-call-log.ts'
import type { MaybePromise } from '../async/maybe-promise.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { ToolContext } from '../contract/task-context.ts'
import type { ConversationMessage } from '../contract/task-context.ts'
import type { TaskContext } from '../contract/task-context.ts'
import { approveCall } from '../approvals/approve-call.ts'
import { type ApprovedCall } from '../approvals/approvable-call.ts'
import { approveOutsideRun } from './approve-outside-run.ts'
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
  readonly row: StartRow
  /** The same for the same call in every attempt, and for no other call of the run. */
  readonly callKey: string
  readonly args: unknown
  readonly messages: readonly ConversationMessage[]
  readonly context: () => ToolContext
}

/** What the gates made of a call that they did not refuse. */
export type Admission =
  /** It runs, with these arguments, and tells `pass` how it ended. */
  | { readonly kind: 'run'; readonly args: unknown; readonly pass: GateReservation }
  /** The same call has been made elsewhere meanwhile, and its row has the result. */
  | { readonly kind: 'raced'; readonly args: unknown; readonly winner: ToolCallRow }
  /** An equal call has the result. */
  | { readonly kind: 'answer'; readonly args: unknown; readonly result: CachedResult }

/**
 * Leads a call through the gates of its tool, in this order: limit, approval, breaker, cache (tools.md §1.3). Whatever
 * an earlier gate has set aside for the call is given back when a later one refuses it.
 *
 * @throws SmithersError `TOOL_LIMIT_REACHED`, `TOOL_APPROVAL_REQUIRED`, `TOOL_APPROVAL_REJECTED`, `TOOL_CIRCUIT_OPEN`,
 *   or what the equal call threw whose result it waited for.
 */
export function passGates(call: CallAtGates): MaybePromise<Admission> {
  const pass = new GateReservation()
  return rescue(
    () =>
      chain(reserve(call, pass), () =>
        chain(approve(call, pass), ({ args, winner }): MaybePromise<Admission> => {
          if (winner !== undefined) {
            return chain(pass.release(), () => ({ kind: 'raced' as const, args, winner }))
          }
          return chain(enterBreaker(call, pass), () => visitCache(call, pass, args))
        }),
      ),
    (error) =>
      chain(pass.release(), () => {
        throw error
      }),
  )
}

/** What the calls of the run share; outside a run, those of the conversation. */
function sharedGates({ task, definition, messages }: CallAtGates): RunGates {
  if (!task.ephemeral) return runGatesOf(task)
  warnOfGatesOutsideRun(definition)
  return gatesOutsideRun(definition, messages)
}

function reserve(call: CallAtGates, pass: GateReservation): MaybePromise<void> {
  const { limit } = call.gates
  if (limit === undefined) return undefined
  const { task, policy, definition } = call
  const { name } = definition.metadata
  const fresh = task.ephemeral || policy.startsEmpty
  const slot = sharedGates(call)
    .limitOf(name)
    .reserve(limit, () => (fresh ? [] : executionsOf(task.log, task.runId, name)))
  return chain(slot, (release) => {
    if (release !== undefined) return pass.holdSlot(release, limit.counted)
    // What the cache answers is no execution.
    if (!mayBeCached(call)) throw limitError(name, limit.most)
    pass.mayRun = false
    return undefined
  })
}

function approve(
  call: CallAtGates,
  pass: GateReservation,
): MaybePromise<Pick<ApprovedCall, 'args' | 'winner'>> {
  const { approval, limit } = call.gates
  if (approval === undefined) return call
  return chain(ask(call, approval, pass.mayRun ? limit : undefined), (approved) => {
    if (approved === undefined) return call
    pass.holdApproval(approved)
    return approved
  })
}

function ask(
  call: CallAtGates,
  approval: ApprovalSettings,
  limit: LimitSettings | undefined,
): MaybePromise<ApprovedCall | undefined> {
  if (call.task.ephemeral) return approveOutsideRun(call, approval)
  if (limit === undefined) return approveCall(call, approval)
  const executions = sharedGates(call).limitOf(call.definition.metadata.name)
  return approveWithinLimit(call, approval, limit, executions)
}

function enterBreaker(call: CallAtGates, pass: GateReservation): MaybePromise<void> {
  const { breaker } = call.gates
  if (breaker === undefined) return undefined
  const { definition } = call
  const { name } = definition.metadata
  return chain(sharedGates(call).breakerOf(definition, name, breaker).enter(), (settle) =>
    pass.holdBreaker(settle),
  )
}

function visitCache(
  call: CallAtGates,
  pass: GateReservation,
  args: unknown,
): MaybePromise<Admission> {
  const { cache: settings, limit } = call.gates
  if (settings === undefined) return { kind: 'run', args, pass }
  const { name } = call.definition.metadata
  const key = cacheKey(call, settings, args)
  const visit = cacheOf(call, settings).visit(key, call.row.callToken, settings)
  if (visit.kind === 'hit') return answer(pass, args, visit.result)
  if (visit.kind === 'lead') {
    pass.holdFlight(visit.flight)
    if (!pass.mayRun && limit !== undefined) throw limitError(name, limit.most)
    return { kind: 'run', args, pass }
  }
  return resultOf(call, visit.result).then((result) =>
    // What cannot be shared is made anew by everyone who asked.
    result === undefined ? visitCache(call, pass, args) : answer(pass, args, result),
  )
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

function answer(
  pass: GateReservation,
  args: unknown,
  result: CachedResult,
): MaybePromise<Admission> {
  const admission: Admission = { kind: 'answer', args, result }
  const given = pass.release()
  return isThenable(given) ? given.then(() => admission) : admission
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
