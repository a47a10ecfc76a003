import type { CallDetail } from '../../api/call-detail.ts'
import type { ExportedRun } from '../../api/exported-run.ts'
import { matchesQuery } from './match-query.ts'
import { SourceError, type ViewerSource } from './viewer-source.ts'

/** The id of the element that holds an exported run. */
const elementId = 'smithers-run'

/**
 * The run that was exported into this page, if it is such a page.
 *
 * @throws SourceError `UNREADABLE` when the data in the page is damaged.
 */
export function exportedSource(): ViewerSource | undefined {
  const text = document.getElementById(elementId)?.textContent
  if (text === undefined || text === null) return undefined
  try {
    const exported = JSON.parse(text) as ExportedRun
    if (exported.format === 1) return fileSource(exported)
  } catch {
    // Said below.
  }
  throw new SourceError('UNREADABLE', 'The run in this file cannot be read. Export it again.')
}

function fileSource({ session, run, calls, callsInFull, approvals }: ExportedRun): ViewerSource {
  const byToken = new Map<string, CallDetail>(calls.map((call) => [call.summary.callToken, call]))
  const { version } = run
  const runs = async () => ({ runs: [run.run], nextCursor: null, version })
  const page = (from: number, limit: number) => ({
    from,
    total: calls.length,
    calls: calls.slice(from, from + limit).map((call) => call.summary),
    nextCursor: null,
    version,
  })
  return {
    kind: 'file',
    lacks: callsInFull === calls.length ? null : lacksOf(callsInFull, calls.length),
    session: async () => session,
    runs,
    timeline: async (_runId, limit) => ({ run, calls: page(0, limit) }),
    run: async () => run,
    calls: async (_runId, from, limit) => page(from, limit),
    async call(callToken) {
      const call = byToken.get(callToken)
      if (call === undefined) {
        throw new SourceError('NOT_FOUND', 'This call is not in the exported file.')
      }
      return { call, version }
    },
    async search(query) {
      const found = calls.filter((call) => matchesQuery(call, query)).toReversed()
      return {
        calls: found.map((call) => call.summary),
        nextCursor: null,
        terms: [],
        problems: [],
        examined: calls.length,
        stopped: false,
        version,
      }
    },
    approvals: async () => ({
      approvals: approvals.filter(({ status }) => status === 'pending'),
      version,
    }),
    decide: refused,
    changes: () => new Promise(() => {}),
    exportRun: refused,
  }
}

function lacksOf(callsInFull: number, calls: number): string {
  return (
    `This file holds arguments and outputs of the first ${callsInFull} of ${calls} calls, which is all that a browser reads well. ` +
    'Export the run as JSON Lines for the others.'
  )
}

async function refused(): Promise<never> {
  throw new SourceError('FORBIDDEN', 'This is an exported run. Open the log with: smithers view')
}
