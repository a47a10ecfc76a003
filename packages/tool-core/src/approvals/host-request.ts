import type { ZodType } from 'zod'
import { hashInput } from '../history/call-identity.ts'
import { recordJson } from '../json/recorded-json.ts'
import type { Redaction } from '../json/redaction.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import type { StartRow } from '../log/tool-call-log.ts'
import { undecided } from './create-approval-request.ts'

/** A connection that a command of one call asks for. */
export interface HostOfCall {
  readonly host: string
  readonly port: number
  readonly command: string
  /** Of the call. */
  readonly row: StartRow
}

/**
 * The request for approval of a connection, as the store keeps it.
 *
 * @param requestedAtMs By the clock of the log.
 */
export async function hostRequest(
  { host, port, command, row }: HostOfCall,
  redact: Redaction,
  requestedAtMs: number,
): Promise<ApprovalRow> {
  const { runId, nodeId, iteration, attempt, toolName, inputHash, idempotencyKey } = row
  // Secrets are hidden in the whole, since a part of one is not found.
  const visible = redact.hideIn(command).replaceAll(blanks, ' ')
  const shown = { host, port, command: beginningOf(visible, mostCharacters), remember: 'call' }
  const { toJSONSchema } = await import('zod')
  const schema = toJSONSchema(await hostSchema({ host, port }), { io: 'input' })
  return {
    id: `apr_${crypto.randomUUID()}`,
    runId,
    nodeId,
    iteration,
    attempt,
    // Not the name of any tool, whose limit would count it.
    toolName: `${toolName} (network)`,
    toolCallId: row.toolCallId ?? '',
    callKey: `${keyPrefix}${JSON.stringify([host, port, idempotencyKey, toolName, inputHash, row.occurrence])}`,
    inputHash: hashInput({ host, port }, undefined),
    idempotencyKey,
    inputJson: recordJson(shown, redact, mostBytes).json,
    inputSchemaJson: JSON.stringify(schema),
    prompt: `Let ${redact.hideIn(`${toolName} connect to ${host}:${port}`)}? Command: ${beginningOf(visible, mostInPrompt)}`,
    defaultsJson: null,
    requestedAtMs,
    expiresAtMs: null,
    ...undecided,
    previewJson: null,
  }
}

/**
 * What an approver may answer with: for how long the approval counts. The host and the port may be repeated, and must then
 * be the same.
 */
export async function hostSchema({
  host,
  port,
}: Pick<HostOfCall, 'host' | 'port'>): Promise<ZodType> {
  const { z } = await import('zod')
  return z.object({
    host: z.literal(host).optional(),
    port: z.literal(port).optional(),
    command: z.string().optional(),
    remember: z.enum(['call', 'run']).optional(),
  })
}

/** No key of a call begins like this. */
const keyPrefix = 'network '

/** Whether an approval is one of a connection, whose `approvedArgs` may be `{ remember: 'run' }`. */
export function isHostApproval({ callKey }: Pick<ApprovalRow, 'callKey'>): boolean {
  return callKey.startsWith(keyPrefix)
}

/** The approval that allows a connection of a call: its own, or one that was given for the whole run. */
export function grantedHost(
  ofHost: readonly ApprovalRow[],
  callKey: string,
): ApprovalRow | undefined {
  return ofHost.find(
    (row) =>
      (row.status === 'approved' || row.status === 'used') &&
      (row.callKey === callKey || isForRun(row)),
  )
}

function isForRun({ approvedArgsJson }: ApprovalRow): boolean {
  if (approvedArgsJson === null) return false
  const { remember } = JSON.parse(approvedArgsJson) as { readonly remember?: unknown }
  return remember === 'run'
}

/**
 * Notes that a connection was made with an approval, so that a prune may remove its run. The approval still counts. A
 * failure is reported and changes nothing.
 */
export async function useHostApproval(
  store: ApprovalStore,
  { id, status }: ApprovalRow,
  onLogError: (error: unknown) => void,
): Promise<void> {
  if (status === 'used') return
  try {
    await store.update(id, 'approved', { status: 'used' })
  } catch (error) {
    onLogError(error)
  }
}

/** The beginning of a text, which says how much is missing: an approver must not take it for the whole. */
function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text
  const isPair = /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/u.test(text.slice(most - 1, most + 1))
  const end = isPair ? most - 1 : most
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}

/** They would move what follows out of sight; control and format characters can hide or reorder it. */
const blanks = /[\s\p{Cc}\p{Cf}]+/gu
const mostCharacters = 2_000
const mostInPrompt = 200
const mostBytes = 16 * 1024
