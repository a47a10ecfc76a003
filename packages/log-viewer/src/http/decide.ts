import { isSmithersError, resolveToolApproval } from '@smithers/tool-core'
import type { DecideRequest, DecideResponse } from '../api/approvals.ts'
import type { LogReader } from '../reading/log-reader.ts'
import { isSafeToRepeat, viewOf } from '../reading/read-approvals.ts'
import type { Refusal } from './guards.ts'

/** A decision as it now stands, or why it was refused. */
export type Decided =
  | { readonly ok: true; readonly response: DecideResponse }
  | { readonly ok: false; readonly refusal: Refusal }

/** Decides about a call that waits, in the name of the system user. */
export async function decide(
  reader: LogReader,
  body: unknown,
  decidedBy: string,
): Promise<Decided> {
  const request = decideRequestFrom(body)
  if (request === undefined) {
    return refused(
      400,
      'INVALID_REQUEST',
      'A decision has id, inputHash and approved (true or false).',
    )
  }
  const { id, inputHash, approved, comment, approvedArgs, confirmed } = request
  const [row] = (await reader.approvals?.list({ id, limit: 1 })) ?? []
  if (row === undefined) return refused(404, 'NOT_FOUND', `No approval has the id ${id}.`)
  if (row.inputHash !== inputHash) {
    return refused(
      409,
      'ALREADY_DECIDED',
      'The request has other arguments than those shown. Load it again.',
    )
  }
  if (approved && confirmed !== true && !(await isSafeToRepeat(reader, row))) {
    return refused(
      409,
      'CONFIRMATION_REQUIRED',
      'This call is not known to be safe to repeat. Ask again, and send confirmed: true.',
    )
  }
  try {
    const decided = await resolveToolApproval({
      log: reader.log,
      id,
      approved,
      decidedBy,
      ...(comment !== undefined && comment !== '' && { comment }),
      ...(approvedArgs !== undefined && { approvedArgs }),
    })
    const approval = await viewOf(reader, decided)
    return { ok: true, response: { approval, version: await reader.version() } }
  } catch (error) {
    return refusedBy(error)
  }
}

function refusedBy(error: unknown): Decided {
  if (!isSmithersError(error)) throw error
  switch (error.code) {
    case 'TOOL_APPROVAL_DECIDED':
      return refused(409, 'ALREADY_DECIDED', error.message)
    case 'TOOL_APPROVAL_NOT_FOUND':
      return refused(404, 'NOT_FOUND', error.message)
    case 'INVALID_INPUT':
      return refused(422, 'INVALID_ARGUMENTS', error.message)
    default:
      throw error
  }
}

function decideRequestFrom(body: unknown): DecideRequest | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const { id, inputHash, approved, comment, approvedArgs, confirmed } = body as Record<
    string,
    unknown
  >
  if (typeof id !== 'string' || typeof inputHash !== 'string' || typeof approved !== 'boolean') {
    return undefined
  }
  if (comment !== undefined && (typeof comment !== 'string' || comment.length > longestComment)) {
    return undefined
  }
  if (confirmed !== undefined && typeof confirmed !== 'boolean') return undefined
  return {
    id,
    inputHash,
    approved,
    ...(comment !== undefined && { comment }),
    ...(approvedArgs !== undefined && { approvedArgs }),
    ...(confirmed !== undefined && { confirmed }),
  }
}

const longestComment = 10_000

function refused(status: Refusal['status'], code: Refusal['code'], message: string): Decided {
  return { ok: false, refusal: { status, code, message } }
}
