import type { CallDetail, ComparedCall } from '../../api/call-detail.ts'
import { counted } from '../text/format.ts'

/** A question about a call and its answer. */
export interface Answer {
  readonly question: string
  readonly answer: string
  readonly more: string
  /** The answer needs a look. */
  readonly alarming: boolean
}

/** Did it happen, how often, and what differs from the last try? */
export function threeAnswers(call: CallDetail): readonly Answer[] {
  return [didItHappen(call), howOften(call), whatDiffers(call)]
}

function didItHappen({ summary }: CallDetail): Answer {
  const question = 'Did it happen?'
  const { outcome, effect, sideEffect } = summary
  const say = (answer: string, more: string, alarming = false): Answer => ({
    question,
    answer,
    more,
    alarming,
  })
  if (outcome === 'unknown') return say('Perhaps', 'the record of its end is missing', true)
  if (outcome === 'running') return say('Not yet known', 'it still runs')
  if (outcome === 'waiting') return say('No', 'it waits for approval')
  if (outcome === 'replayed') return say('Not again', 'an earlier call did it')
  if (outcome === 'cached') return say('Not again', 'the output came from the cache')
  if (outcome === 'fenced') return say('Perhaps', 'another worker took it over', true)
  if (effect === 'applied' || outcome === 'ok') {
    return sideEffect ? say('Yes', 'its effect is recorded') : say('Yes', 'it changes nothing')
  }
  if (effect === 'none') return say('No', 'it had no effect')
  return say('Perhaps', 'it failed, and its effect is not known', sideEffect)
}

function howOften({ sameKeyCount, sameKey, idempotencyKey, summary }: CallDetail): Answer {
  const question = 'How often?'
  if (idempotencyKey === null) {
    return { question, answer: 'Once', more: 'it has no key to count by', alarming: false }
  }
  const all = [summary, ...sameKey.map((other) => other.summary)]
  const ran = all.filter(({ outcome }) => outcome !== 'replayed' && outcome !== 'cached')
  const applied = ran.filter(
    ({ effect, outcome }) => effect === 'applied' || outcome === 'ok',
  ).length
  const unknown = ran.filter(({ outcome }) => outcome === 'unknown').length
  const known = sameKeyCount > all.length ? `of the newest ${all.length}, ` : ''
  return {
    question,
    answer: counted(sameKeyCount, 'call'),
    more: `of this key: ${known}${applied} took effect${unknown > 0 ? `, ${unknown} unknown` : ''}`,
    alarming: applied + unknown > 1 && summary.sideEffect,
  }
}

function whatDiffers(call: CallDetail): Answer {
  const question = 'What differs?'
  const before = earlierTry(call)
  if (before === null) {
    return { question, answer: 'First try', more: 'no earlier call to compare', alarming: false }
  }
  const where = `from attempt ${before.summary.attempt}`
  if (before.sameArguments === null) {
    return { question, answer: 'Not recorded', more: where, alarming: false }
  }
  return before.sameArguments
    ? { question, answer: 'Nothing', more: `the arguments are equal, ${where}`, alarming: false }
    : { question, answer: 'Arguments', more: `${where}; see below`, alarming: true }
}

/** The call to compare with first: of the attempt before, else the last one of the same key. */
function earlierTry({ attemptBefore, sameKey }: CallDetail): ComparedCall | null {
  return attemptBefore ?? sameKey[0] ?? null
}
