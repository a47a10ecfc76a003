import { getToolContext } from '../context/ambient-context.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import { boundedLog } from '../log/bounded-log.ts'
import { nowOf } from '../log/log-clock.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { disownError } from '../journal/error-effect.ts'
import { alreadyDecided } from './approval-errors.ts'
import { approvalsOf } from './approve-call.ts'
import {
  argumentsRefused,
  checkApprovedArguments,
  schemaFromJson,
} from './check-approved-arguments.ts'
import { expireIfDue, recordDecision } from './record-decision.ts'
import type { ApprovalDecision } from '../contract/on-approval.ts'

/** The log that holds approvals. */
export interface ApprovalLocation {
  /** @default the log of the surrounding context */
  readonly log?: ToolCallLog | undefined
  /** Only approvals of this run. @default all runs */
  readonly runId?: string | undefined
}

/** Options of {@link resolveToolApproval}. */
export interface ResolveToolApprovalOptions extends ApprovalDecision, ApprovalLocation {
  /** The id of the approval, or the `toolCallId` of the call that last requested it. */
  readonly id: string
}

/**
 * Decides about a call that waits for approval, in any process. A paused run continues when it is resumed.
 *
 * @returns The approval as it now is.
 * @throws SmithersError `TOOL_APPROVAL_NOT_FOUND`; `TOOL_APPROVAL_DECIDED` when the decision was another, the approval
 *   has expired or the agent has superseded it; `INVALID_INPUT` when `approvedArgs` do not match the tool's schema, which leaves it pending.
 * @example
 * await resolveToolApproval({ log, id, approved: false, comment: 'Too expensive.', decidedBy: 'mia' })
 */
export async function resolveToolApproval(
  options: ResolveToolApprovalOptions,
): Promise<ApprovalRow> {
  try {
    return await resolveApproval(options)
  } catch (error) {
    throw disownError(error)
  }
}

async function resolveApproval(options: ResolveToolApprovalOptions): Promise<ApprovalRow> {
  const { approved, approvedArgs } = options
  if (typeof approved !== 'boolean') {
    throw new SmithersError(
      'INVALID_INPUT',
      `approved must be true or false, got ${String(approved)}.`,
    )
  }
  if (!approved && approvedArgs !== undefined) {
    throw new SmithersError(
      'INVALID_INPUT',
      'approvedArgs go with approved: true. Leave them out of a rejection.',
    )
  }
  const log = logOf(options)
  const store = approvalsOf(log)
  const row = await expireIfDue(store, await find(store, options), nowOf(log))
  if (row.status !== 'pending') return settled(row, options)
  if (approvedArgs !== undefined) await check(row, approvedArgs)
  await recordDecision(store, row, options, nowOf(log))
  const [decided] = await store.list({ id: row.id, limit: 1 })
  // Another decision may have been faster.
  return settled(decided ?? row, options)
}

/** Lists every call that waits for approval, oldest first. */
export async function pendingApprovals(location: ApprovalLocation = {}): Promise<ApprovalRow[]> {
  try {
    return await listPending(location)
  } catch (error) {
    throw disownError(error)
  }
}

async function listPending(location: ApprovalLocation): Promise<ApprovalRow[]> {
  const log = logOf(location)
  const store = approvalsOf(log)
  const { runId } = location
  const rows = await store.list({
    status: 'pending',
    ...(runId === undefined ? {} : { runId }),
    limit: Infinity,
  })
  const current = await Promise.all(rows.map((row) => expireIfDue(store, row, nowOf(log))))
  return current.filter(({ status }) => status === 'pending').toReversed()
}

/** The default of a run. */
const logTimeoutMs = 30_000

/** Of a schema without its author's functions. */
const checkTimeoutMs = 60_000

function logOf({ log }: ApprovalLocation): ToolCallLog {
  const chosen = log ?? getToolContext()?.log
  if (chosen !== undefined) return boundedLog(chosen, logTimeoutMs)
  throw new SmithersError(
    'INVALID_INPUT',
    'Outside a run, pass the log that holds the approval: { log, … }.',
  )
}

async function find(
  store: ApprovalStore,
  { id, runId }: ResolveToolApprovalOptions,
): Promise<ApprovalRow> {
  const within = runId === undefined ? {} : { runId }
  const [byId] = await store.list({ id, ...within, limit: 1 })
  if (byId !== undefined) return byId
  const called = await store.list({ toolCallId: id, ...within, limit: Infinity })
  const pending = called.filter(({ status }) => status === 'pending')
  // Models number their calls anew in each run, so an id that two runs share means neither of them.
  const runs = new Set(called.map((row) => row.runId)).size
  if (pending.length > 1 || runs > 1) {
    const candidates = pending.length > 0 ? pending : called
    const ids = candidates.map((row) => `${row.id} (run ${row.runId})`).join(', ')
    throw new SmithersError(
      'INVALID_INPUT',
      `${called.length} calls${runs > 1 ? ` of ${runs} runs` : ''} have the id ${id} and requested approval: ${ids}. Give the id of the approval.`,
      { details: { id, approvals: candidates.map((row) => row.id) } },
    )
  }
  const [row] = pending.length === 1 ? pending : called
  if (row !== undefined) return row
  throw new SmithersError(
    'TOOL_APPROVAL_NOT_FOUND',
    `No approval has the id ${id}, and no call with that id requested one. List the pending ones with pendingApprovals.`,
    { details: { id, ...within } },
  )
}

async function check({ id, toolName, inputSchemaJson }: ApprovalRow, args: unknown): Promise<void> {
  if (inputSchemaJson === null) {
    throw argumentsRefused(
      toolName,
      id,
      'The schema has no JSON form, so they can only be checked where the tool is',
    )
  }
  const checked = await checkApprovedArguments(
    await schemaFromJson(inputSchemaJson),
    args,
    checkTimeoutMs,
  )
  if (!checked.ok) throw argumentsRefused(toolName, id, checked.problem)
}

/** The approval, when it holds this very decision. */
function settled(row: ApprovalRow, decision: ApprovalDecision): ApprovalRow {
  const { approved, approvedArgs, decidedBy, comment } = decision
  const given = row.status === 'approved' || row.status === 'used'
  const equal =
    row.status !== 'pending' &&
    row.status !== 'expired' &&
    given === approved &&
    row.decidedBy === (decidedBy ?? null) &&
    row.comment === (comment ?? null) &&
    (row.status === 'used' || sameArgs(row.approvedArgsJson, approvedArgs))
  if (!equal) throw alreadyDecided(row)
  return row
}

function sameArgs(json: string | null, args: unknown): boolean {
  if (json === null || args === undefined) return json === null && args === undefined
  return canonicalJson(JSON.parse(json)) === canonicalJson(JSON.parse(JSON.stringify(args)))
}
