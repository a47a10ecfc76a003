import { brief } from '../json/recorded-json.ts'
import { drive, isThenable, settled, type Steps } from '../async/maybe-promise.ts'
import type { ApprovalRow } from '../log/approval-store.ts'
import type { ToolCallLog, ToolCallQuery } from '../log/tool-call-log.ts'
import type { ToolCallRow } from '../log/tool-call-row.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { LimitSettings } from '../contract/gate-options.ts'

/** Gives back the slot of a call that did not run, or whose failure does not count. */
export type ReleaseSlot = () => void

/**
 * Counts the executions of one tool in one run. A slot is taken before a call runs and in one step, so parallel calls
 * cannot exceed the limit; a run that resumes after a crash counts what its log holds.
 *
 * @remarks Does not protect against several processes that work on the same run at once: each counts for itself.
 */
export class ExecutionLimit {
  #used: number | undefined
  #counting: PromiseLike<void> | undefined
  /** Calls that have a slot while their approval is pending. */
  readonly #asking = new Set<string>()

  /** A call that holds a slot is asked about from now on, until the function is called that this returns. */
  ask(callKey: string): () => void {
    this.#asking.add(callKey)
    return () => {
      this.#asking.delete(callKey)
    }
  }

  /** Takes a slot; undefined when there is none left. */
  *reserve(
    { most, counted }: LimitSettings,
    earlier: () => Steps<readonly ToolCallRow[]>,
  ): Steps<ReleaseSlot | undefined> {
    yield* this.#count(counted, earlier)
    const used = this.#used ?? 0
    if (used >= most) return undefined
    this.#used = used + 1
    let taken = true
    return () => {
      if (!taken) return
      taken = false
      this.#used = (this.#used ?? 1) - 1
    }
  }

  /** The approval that has the slot of a call already, which is undefined when there are enough for both. */
  keptFor(
    most: number,
    callKey: string,
    standing: readonly ApprovalRow[],
  ): ApprovalRow | undefined {
    const others = standing.filter(
      ({ callKey: other }) => other !== callKey && !this.#asking.has(other),
    )
    return (this.#used ?? 0) + others.length > most ? others[0] : undefined
  }

  /** Counts the earlier executions once for all calls; again when that failed. */
  *#count(
    counted: LimitSettings['counted'],
    earlier: () => Steps<readonly ToolCallRow[]>,
  ): Steps<void> {
    if (this.#used !== undefined) return
    if (this.#counting === undefined) {
      const rows = drive(earlier())
      if (!isThenable(rows)) {
        this.#used = countOf(rows, counted)
        return
      }
      this.#counting = this.#countLater(rows, counted)
    }
    yield this.#counting
  }

  async #countLater(
    earlier: PromiseLike<readonly ToolCallRow[]>,
    counted: LimitSettings['counted'],
  ): Promise<void> {
    try {
      this.#used = countOf(await earlier, counted)
    } finally {
      this.#counting = undefined
    }
  }
}

function countOf(rows: readonly ToolCallRow[], counted: LimitSettings['counted']): number {
  return rows.filter((row) => counts(row, counted)).length
}

/** The rows of one tool in one run. */
export function* executionsOf(
  log: ToolCallLog,
  runId: string,
  toolName: string,
): Steps<readonly ToolCallRow[]> {
  const rows: ToolCallRow[] = []
  for (;;) {
    const after = rows.at(-1)
    const query: ToolCallQuery = { runId, toolName, limit: pageSize, ...(after && { after }) }
    const page = yield* settled(log.list(query))
    rows.push(...page)
    if (page.length < pageSize) return rows
  }
}

const pageSize = 1000

export function limitError(toolName: string, most: number, keptFor?: ApprovalRow): SmithersError {
  const calls = most === 1 ? '1 call' : `${most} calls`
  const refused = `Tool "${toolName}" was not run: `
  const details = { toolName, maxExecutionsPerRun: most }
  if (most === 0) {
    return new SmithersError(
      'TOOL_LIMIT_REACHED',
      `${refused}it is switched off in this run (maxExecutionsPerRun is 0). Continue without it.`,
      { details, effect: 'none' },
    )
  }
  if (keptFor === undefined) {
    return new SmithersError(
      'TOOL_LIMIT_REACHED',
      `${refused}limit of ${calls} per run reached (maxExecutionsPerRun). Continue with the results you have.`,
      { details, effect: 'none' },
    )
  }
  const { id, status, inputJson } = keptFor
  const state = status === 'approved' ? 'has been approved' : 'is pending approval'
  return new SmithersError(
    'TOOL_LIMIT_REACHED',
    `${refused}limit of ${calls} per run (maxExecutionsPerRun); the remaining one is reserved for another call, which ${state}. Its arguments: ${brief(inputJson)}. Make that call, or continue with the results you have.`,
    { details: { ...details, approvalId: id }, effect: 'none' },
  )
}

function counts(row: ToolCallRow, counted: LimitSettings['counted']): boolean {
  if (row.status === 'started') return true
  if (row.replayOf !== null) return false
  if (row.status === 'success') return true
  return counted === 'executions' && !wasRefused(row)
}

/** Calls that were refused leave a row, but did not run. */
function wasRefused({ effect, errorJson }: ToolCallRow): boolean {
  if (effect !== 'none' || errorJson === null) return false
  try {
    const { code, details } = JSON.parse(errorJson) as {
      readonly code?: unknown
      readonly details?: { readonly waited?: unknown }
    }
    // A call whose time was over while it waited for an equal one.
    if (details?.waited === true) return true
    return typeof code === 'string' && refusalCodes.has(code)
  } catch {
    return false
  }
}

const refusalCodes: ReadonlySet<string> = new Set([
  'INVALID_INPUT',
  'TOOL_INPUT_NOT_CANONICAL',
  'TOOL_LIMIT_REACHED',
  'TOOL_APPROVAL_REQUIRED',
  'TOOL_APPROVAL_REJECTED',
  'TOOL_CIRCUIT_OPEN',
  'TOOL_CALL_IN_PROGRESS',
  'TOOL_CALL_BLOCKED',
  'TOOL_OUTCOME_UNKNOWN',
  'TOOL_ABORTED',
])
