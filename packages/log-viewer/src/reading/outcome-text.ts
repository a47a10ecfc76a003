import type { ToolCallRow } from '@smithers/tool-core/log'
import type { CallOutcome } from '../api/calls.ts'
import { readableError } from './readable-error.ts'

/** The outcome of a call in words: what is known, and what to do next. */
export function outcomeText(row: ToolCallRow, outcome: CallOutcome): string {
  const message = readableError(row.errorJson)?.message ?? ''
  switch (outcome) {
    case 'ok':
      return row.sideEffect ? 'It returned. Its effect took place.' : 'It returned.'
    case 'running':
      return 'It has not ended.'
    case 'unknown':
      return unknownText(row)
    case 'replayed':
      return 'It did not run: it returned the output of an earlier call that already had the effect.'
    case 'cached':
      return "It did not run: it returned the output of an equal call from the tool's cache."
    case 'fenced':
      return 'Another worker took the call over while it ran, so its result was discarded. It may have taken effect here, too.'
    case 'waiting':
      return 'It did not run: it waits for approval.'
    case 'refused':
      return `It did not run, and had no effect. ${message}`.trimEnd()
    default:
      return `${failedText(row)} ${message}`.trimEnd()
  }
}

function unknownText({ sideEffect, idempotencyKey, idempotent }: ToolCallRow): string {
  const what = 'The worker ended between the start of this call and its record.'
  if (!sideEffect) return `${what} It only reads, so nothing is lost.`
  const may = `${what} It may have taken effect`
  if (idempotent) return `${may}; it is safe to repeat.`
  return idempotencyKey === null
    ? `${may}: look for its effect before you repeat it.`
    : `${may}: look it up by this key before you repeat it.`
}

function failedText({ effect, sideEffect }: ToolCallRow): string {
  if (!sideEffect) return 'It failed.'
  if (effect === 'none') return 'It failed without an effect.'
  return effect === 'applied'
    ? 'It failed after its effect took place.'
    : 'It failed, and may have changed something first.'
}
