import type { Script } from './scripted-model.ts'

/**
 * How the demo's model pays: at once, unless the prompt warns that an earlier attempt may have paid. Then it checks
 * first.
 */
export function* payCarefully(prompt: string): Script {
  const { cents, order } = /Pay (?<cents>\d+) cents for the order (?<order>[\w-]+)/.exec(prompt)
    ?.groups ?? { cents: '0', order: '' }
  if (prompt.includes('[smithers:tool-resume-warning]')) {
    const found = yield {
      text: 'An earlier attempt may have paid: I check before I pay.',
      toolName: 'find_payments',
      input: { order },
    }
    if (found.failed) throw new Error(`I cannot find out whether it was paid: ${found.text}`)
    const [payment] = JSON.parse(found.text) as readonly object[]
    if (payment !== undefined) return payment
  }
  const paid = yield {
    text: 'I pay.',
    toolName: 'charge',
    input: { order, cents: Number(cents) },
  }
  if (paid.failed) throw new Error(`I could not pay: ${paid.text}`)
  return JSON.parse(paid.text) as object
}
