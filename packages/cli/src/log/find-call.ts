import type { ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import { badInput } from '../errors/command-failure.ts'
import { allRows } from './all-rows.ts'

/** Names a call. */
export interface CallAddress {
  readonly seq: number
  /** @default the newest run of the log */
  readonly runId?: string | undefined
  /** @default the newest task that has such a call */
  readonly nodeId?: string | undefined
  /** @default the newest attempt that has such a call */
  readonly attempt?: number | undefined
}

/** A call, and other calls of its run with the same number. */
export interface FoundCall {
  readonly row: ToolCallRow
  readonly others: readonly ToolCallRow[]
}

/**
 * The newest call with an address. Numbers are unique only within one attempt of one task.
 *
 * @param logOption The option that makes a command read this log.
 */
export async function findCall(
  log: ToolCallLog,
  address: CallAddress,
  logOption: string,
): Promise<FoundCall> {
  const runId = address.runId ?? (await newestRunId(log))
  const found: ToolCallRow[] = []
  for await (const row of allRows(log, {
    runId,
    ...(address.nodeId === undefined ? {} : { nodeId: address.nodeId }),
    ...(address.attempt === undefined ? {} : { attempt: address.attempt }),
    order: 'descending',
  })) {
    if (row.seq === address.seq) found.push(row)
  }
  const [row, ...others] = found
  if (row === undefined) {
    const attempt = address.attempt === undefined ? '' : `attempt ${address.attempt} of `
    const where = attempt + (address.nodeId === undefined ? '' : `task ${address.nodeId} of `)
    throw badInput(
      `No call ${address.seq} in ${where}run ${runId}. "smithers calls${logOption}" lists them.`,
    )
  }
  return { row, others }
}

/**
 * Earlier calls with the same idempotency key, which a provider would treat as the same request. Oldest first.
 */
export async function priorCallsOfKey(
  log: ToolCallLog,
  row: ToolCallRow,
): Promise<readonly ToolCallRow[]> {
  const earlier: ToolCallRow[] = []
  if (row.idempotencyKey === null) return earlier
  for await (const other of allRows(log, { idempotencyKey: row.idempotencyKey })) {
    if (other.callToken === row.callToken) return earlier
    earlier.push(other)
  }
  return earlier
}

/** The call whose output this one returned; null when it ran itself, or when the log no longer contains the other. */
export async function replayedCall(
  log: ToolCallLog,
  row: ToolCallRow,
): Promise<ToolCallRow | null> {
  if (row.replayOf === null) return null
  const [replayed] = await log.list({ callToken: row.replayOf, limit: 1 })
  return replayed ?? null
}

async function newestRunId(log: ToolCallLog): Promise<string> {
  const [row] = await log.list({ order: 'descending', limit: 1 })
  if (row === undefined) throw badInput('The log contains no calls.')
  return row.runId
}
