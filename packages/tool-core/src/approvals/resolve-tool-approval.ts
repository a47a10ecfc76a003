import { getToolContext } from '../context/ambient-context.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import type { ToolCallLog } from '../log/tool-call-log.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import { alreadyDecided } from './approval-errors.ts'
import { approvalsOf } from './approve-call.ts'
import { argumentsRefused, checkArguments, schemaFromJson } from './check-approved-arguments.ts'
import { decide, expireIfDue } from './record-decision.ts'
import type { ApprovalDecision } from '../contract/on-approval.ts'

/** Where approvals are. */
export interface ApprovalPlace {
  /** @default the log of the surrounding context */
  readonly log?: ToolCallLog | undefined
  /** Only approvals of this run. @default all runs */
  readonly runId?: string | undefined
}

/** Options of {@link resolveToolApproval}. */
export interface ResolveToolApprovalOptions extends ApprovalDecision, ApprovalPlace {
  /** The id of the approval, or the `toolCallId` of the call that asked last. */
  readonly id: string
}

/**
 * Decides about a call that waits for approval, in whichever process. The run that asked goes on when it is resumed.
 *
 * @returns The approval as it now is.
 * @throws SmithersError `TOOL_APPROVAL_NOT_FOUND`; `TOOL_APPROVAL_DECIDED` when somebody has decided otherwise or its
 *   time is over; `INVALID_INPUT` when `approvedArgs` do not match the tool's schema, which leaves it pending.
 * @example
 * await resolveToolApproval({ log, id, approved: false, comment: 'Too expensive.', decidedBy: 'mia' })
 */
export async function resolveToolApproval(
  options: ResolveToolApprovalOptions,
): Promise<ApprovalRow> {
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
  const store = approvalsOf(logOf(options))
  const row = await expireIfDue(store, await find(store, options))
  if (row.status !== 'pending') return settled(row, options)
  if (approvedArgs !== undefined) await check(row, approvedArgs)
  await decide(store, row, options)
  const [decided] = await store.list({ id: row.id, limit: 1 })
  // Somebody else may have been faster.
  return settled(decided ?? row, options)
}

/** Lists the calls that wait for approval, the oldest first. */
export async function pendingApprovals(place: ApprovalPlace = {}): Promise<ApprovalRow[]> {
  const store = approvalsOf(logOf(place))
  const { runId } = place
  const rows = await store.list({ status: 'pending', ...(runId === undefined ? {} : { runId }) })
  const current = await Promise.all(rows.map((row) => expireIfDue(store, row)))
  return current.filter(({ status }) => status === 'pending').toReversed()
}

function logOf({ log }: ApprovalPlace): ToolCallLog {
  const chosen = log ?? getToolContext()?.log
  if (chosen !== undefined) return chosen
  throw new SmithersError(
    'INVALID_INPUT',
    'Outside a run, give the log that holds the approval: { log, … }.',
  )
}

async function find(
  store: ApprovalStore,
  { id, runId }: ResolveToolApprovalOptions,
): Promise<ApprovalRow> {
  const within = runId === undefined ? {} : { runId }
  const [byId] = await store.list({ id, ...within, limit: 1 })
  if (byId !== undefined) return byId
  const called = await store.list({ toolCallId: id, ...within })
  const pending = called.filter(({ status }) => status === 'pending')
  if (pending.length > 1) {
    const ids = pending.map((row) => `${row.id} (run ${row.runId})`).join(', ')
    throw new SmithersError(
      'INVALID_INPUT',
      `${pending.length} calls with the id ${id} wait for approval: ${ids}. Give the id of the approval.`,
      { details: { id, approvals: pending.map((row) => row.id) } },
    )
  }
  const [row] = pending.length === 1 ? pending : called
  if (row !== undefined) return row
  throw new SmithersError(
    'TOOL_APPROVAL_NOT_FOUND',
    `There is no approval with the id ${id}, and no call with that id has asked for one. List those that wait with pendingApprovals.`,
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
  const checked = await checkArguments(await schemaFromJson(inputSchemaJson), args)
  if (!checked.ok) throw argumentsRefused(toolName, id, checked.problem)
}

/** The approval, when it holds this very decision. */
function settled(row: ApprovalRow, decision: ApprovalDecision): ApprovalRow {
  const { approved, approvedArgs, decidedBy, comment } = decision
  const given = row.status === 'approved' || row.status === 'executed'
  const equal =
    row.status !== 'pending' &&
    row.status !== 'expired' &&
    given === approved &&
    row.decidedBy === (decidedBy ?? null) &&
    row.comment === (comment ?? null) &&
    (row.status === 'executed' || sameArgs(row.approvedArgsJson, approvedArgs))
  if (!equal) throw alreadyDecided(row)
  return row
}

function sameArgs(json: string | null, args: unknown): boolean {
  if (json === null || args === undefined) return json === null && args === undefined
  return canonicalJson(JSON.parse(json)) === canonicalJson(JSON.parse(JSON.stringify(args)))
}
