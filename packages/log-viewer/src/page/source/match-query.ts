import type { CallDetail } from '../../api/call-detail.ts'

/**
 * The search of an exported page: words, `"phrases"` and the filters `tool:`, `is:`, `effect:`, `task:`, `code:`, `key:`,
 * `trace:`, each also excluded with a minus. A server searches for itself.
 */
export function matchesQuery(call: CallDetail, query: string): boolean {
  const terms = query.match(/-?(?:[a-z]+:)?(?:"[^"]*"|\S+)/gi) ?? []
  return terms.every((term) => {
    const excluded = term.startsWith('-')
    return matchesTerm(call, (excluded ? term.slice(1) : term).replaceAll('"', '')) !== excluded
  })
}

function matchesTerm(call: CallDetail, term: string): boolean {
  const [, filter = '', value = ''] = /^([a-z]+):(.+)$/i.exec(term) ?? []
  const { summary, error } = call
  const wanted = value.toLowerCase()
  switch (filter.toLowerCase()) {
    case 'tool':
      return summary.toolName.toLowerCase() === wanted
    case 'is':
      return summary.outcome === wanted
    case 'effect':
      return summary.effect === wanted
    case 'task':
      return summary.nodeId.toLowerCase() === wanted
    case 'code':
      return summary.errorCode?.toLowerCase() === wanted
    case 'key':
      return call.idempotencyKey === value
    case 'trace':
      return call.traceId === value
    default:
      return [
        summary.toolName,
        call.inputJson,
        call.outputJson,
        error?.json,
        call.idempotencyKey,
        call.traceId,
        call.toolCallId,
      ].some((text) => text?.toLowerCase().includes(term.toLowerCase()) === true)
  }
}
