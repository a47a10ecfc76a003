import { type CallSummary, outcomeOf, sinceFirst } from './call-summary.ts'
import type { RunSafety } from '../contract/journal-options.ts'
import type { OnRetry, ToolDefinition } from '../contract/tool-definition.ts'

/** What to do with a call, given what earlier calls of the same intent did. */
export type ReplayDecision =
  /** Run it; `repeats` is the earlier call that it repeats, or may repeat. */
  | { readonly kind: 'run'; readonly repeats?: CallSummary }
  /** Return the recorded output of a success. */
  | { readonly kind: 'reuse'; readonly prior: CallSummary }
  /** Ask the tool whether the earlier call took effect, then decide. */
  | { readonly kind: 'verify'; readonly prior: CallSummary }
  /** Refuse, and say what happened before. */
  | { readonly kind: 'block'; readonly prior: CallSummary }

/** Everything a decision depends on. */
export interface ReplayFacts {
  readonly onRetry: OnRetry
  readonly canVerify: boolean
  /** Calls of the same intent and occurrence, oldest first. */
  readonly prior: readonly CallSummary[]
  /** An earlier call that this one may be a rewording of. */
  readonly reworded: CallSummary | undefined
  /** The conversation holds this very call: it is not repeated but continued. */
  readonly continued: boolean
  /** The key may run again: `run.allow`. */
  readonly allowed: boolean
}

/** How a tool treats repeated calls: its own choice, else what the run's safety makes of its two flags. */
export function onRetryOf(definition: ToolDefinition, safety: RunSafety): OnRetry {
  const { sideEffect, idempotent } = definition.metadata
  if (definition.onRetry !== undefined) return definition.onRetry
  return sideEffect && !idempotent ? modes[safety] : 'rerun'
}

const modes = { warn: 'warn', reuse: 'reuse', strict: 'block' } as const

/** Decides about a call before it starts. A call that is running is left to its claim. */
export function decideReplay(question: ReplayFacts): ReplayDecision {
  const { onRetry, canVerify, prior, reworded, continued, allowed } = question
  if (allowed) return run
  const success = prior.findLast((call) => outcomeOf(call) === 'success')
  if (success !== undefined) {
    const succeeded = sinceFirst(success, prior)
    if (continued || onRetry === 'reuse') return { kind: 'reuse', prior: succeeded }
    return onRetry === 'block'
      ? { kind: 'block', prior: succeeded }
      : { kind: 'run', repeats: succeeded }
  }
  // Without an exact match a reworded call counts as a repetition of the one it resembles.
  const unknown = prior.findLast((call) => outcomeOf(call) === 'unknown') ?? reworded
  if (unknown === undefined) return run
  const unsure = sinceFirst(unknown, prior)
  if (canVerify) return { kind: 'verify', prior: unsure }
  return onRetry === 'block' ? { kind: 'block', prior: unsure } : { kind: 'run', repeats: unsure }
}

const run: ReplayDecision = { kind: 'run' }
