import { type CallSummary, outcomeOf, type PriorOutcome, sinceFirst } from './call-summary.ts'

/** The first line of every warning, so that programs can find it. */
export const retryWarningMarker = '[smithers:tool-resume-warning]'

/** What a warning is made from. */
export interface RetryWarningInput {
  readonly attempt: number
  /** The calls that earlier attempts left, oldest first. */
  readonly earlier: readonly CallSummary[]
  readonly maxBytes: number
}

/**
 * Lists for an agent the effects that earlier attempts of its task may have left: external ones a line each,
 * the unknown first and the newest first; those in the workspace in one line, since `git diff` shows them. Null when
 * there are none.
 */
export function retryWarningText(input: RetryWarningInput): string | null {
  const { attempt, earlier, maxBytes } = input
  const effects = effectsByKey(earlier)
  const external = effects.filter(({ effectScope }) => effectScope === 'external')
  const workspace = effects.filter(({ effectScope }) => effectScope === 'workspace')
  if (effects.length === 0) return null

  const lines = [
    retryWarningMarker,
    `This is attempt ${attempt} of this task. Earlier attempts already made the calls below, and their effects may still be there. Check the outside state before you repeat one. A repeated call with the same arguments has the same idempotency key.`,
  ]
  const closing =
    workspace.length === 0
      ? []
      : [`- ${workspace.length} in the workspace (${countsOf(workspace)}): see git diff.`]
  const room =
    maxBytes - Buffer.byteLength([...lines, ...closing, moreLine(external.length)].join('\n'))
  return [...lines, ...fitting(external.toSorted(urgentFirst).map(lineOf), room), ...closing].join(
    '\n',
  )
}

/** One entry a key: what is best known of all attempts at it. Refused calls and certain failures had no effect. */
function effectsByKey(earlier: readonly CallSummary[]): CallSummary[] {
  const byKey = new Map<string, CallSummary>()
  for (const call of earlier) {
    if (!call.sideEffect || call.idempotent || outcomeOf(call) === 'failed') continue
    // Under a key for the whole task, the arguments tell calls apart.
    const key = `${call.idempotencyKey ?? call.callToken}\n${call.toolName}\n${call.inputHash ?? ''}\n${call.occurrence}`
    const known = byKey.get(key)
    if (known === undefined) byKey.set(key, call)
    // A returned record says no more than the success that it is of.
    else if (outcomeOf(known) !== 'success') byKey.set(key, sinceFirst(call, [known]))
  }
  return [...byKey.values()]
}

const urgency: Readonly<Record<PriorOutcome, number>> = {
  running: 0,
  unknown: 0,
  failed: 1,
  success: 1,
}

function urgentFirst(a: CallSummary, b: CallSummary): number {
  return (
    urgency[outcomeOf(a)] - urgency[outcomeOf(b)] || b.startedAtMs - a.startedAtMs || b.seq - a.seq
  )
}

function lineOf(call: CallSummary): string {
  const when = new Date(call.startedAtMs).toISOString()
  return `- ${call.toolName} ${summaryOf(call.inputHead)} · ${when} · ${outcomeText(call)} · key ${call.idempotencyKey ?? 'none'}`
}

function outcomeText(call: CallSummary): string {
  const outcome = outcomeOf(call)
  if (outcome === 'success') return 'succeeded'
  if (outcome === 'running') return 'UNKNOWN: still running, or its worker ended'
  const code = call.errorCode
  return code === null || code === 'TOOL_OUTCOME_UNKNOWN'
    ? 'UNKNOWN: it may have happened'
    : `UNKNOWN: it ended with ${code} and may have happened`
}

const longestSummary = 200

function summaryOf(inputJson: string | null): string {
  if (inputJson === null) return '(arguments not recorded)'
  if (inputJson.length <= longestSummary) return inputJson
  return `${inputJson.slice(0, longestSummary).replace(/[\ud800-\udbff]$/, '')}…`
}

function countsOf(calls: readonly CallSummary[]): string {
  const counts = new Map<string, number>()
  for (const { toolName } of calls) counts.set(toolName, (counts.get(toolName) ?? 0) + 1)
  return Array.from(counts, ([name, count]) => `${name} ×${count}`).join(', ')
}

function moreLine(count: number): string {
  return `- and ${count} more`
}

/** As many lines as fit, and how many do not. */
function fitting(lines: readonly string[], maxBytes: number): string[] {
  const kept: string[] = []
  let bytes = 0
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > maxBytes) break
    kept.push(line)
  }
  return kept.length === lines.length ? kept : [...kept, moreLine(lines.length - kept.length)]
}
