import type { FinishPatch, StartRow, ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'

/** What the log was told of a call. */
export interface JournaledCall {
  readonly token: string
  readonly key: string | null
  readonly finish: FinishPatch | undefined
}

/** The server's view of its log: it knows the row of each call without asking. */
export interface RunJournal {
  /** For the tools. */
  readonly log: ToolCallLog
  /** Begins a call under an id made a moment ago. The log holds nothing of it, so it is not asked for earlier rows. */
  beginNew(callId: string): void
  /** Begins another round of a call. */
  beginAgain(callId: string): void
  /** What the log was told of the call; undefined before its row. Forgets it. */
  take(callId: string): JournaledCall | undefined
}

interface Noted {
  isNew: boolean
  row?: StartRow
  finish?: FinishPatch
}

/** Watches the rows of calls as they go into a log. */
export function createRunJournal(log: ToolCallLog): RunJournal {
  const calls = new Map<string, Noted>()
  const byToken = new Map<string, Noted>()

  const isNew = (callId: string | undefined): boolean =>
    callId !== undefined && calls.get(callId)?.isNew === true

  const watched: Partial<ToolCallLog> = {
    beginAttempt: (attempt) =>
      isNew(attempt.nodeId) || log.beginAttempt === undefined ? 'ok' : log.beginAttempt(attempt),
    start: (row, options) => {
      const noted = calls.get(row.nodeId)
      // A tool may call another tool, in the same task: the first row is that of the client's call.
      if (noted !== undefined && (noted.row?.callToken ?? row.callToken) === row.callToken) {
        // The caller fills the row in as the call proceeds.
        noted.row = { ...row }
        noted.isNew = false
        byToken.set(row.callToken, noted)
      }
      return log.start(row, options)
    },
    finish: (callToken, patch) => {
      const noted = byToken.get(callToken)
      if (noted !== undefined) noted.finish = patch
      return log.finish(callToken, patch)
    },
    list: (query): ReturnType<ToolCallLog['list']> => {
      return isNew(query.nodeId) ? noRows() : log.list(query)
    },
  }

  return {
    log: withMethods(log, watched),
    beginNew: (callId) => void calls.set(callId, { isNew: true }),
    beginAgain: (callId) => void calls.set(callId, { isNew: false }),
    take: (callId) => {
      const noted = calls.get(callId)
      calls.delete(callId)
      if (noted?.row === undefined) return undefined
      const { callToken, idempotencyKey } = noted.row
      byToken.delete(callToken)
      return { token: callToken, key: idempotencyKey, finish: noted.finish }
    },
  }
}

function noRows(): ToolCallRow[] {
  return []
}

/** The log with some methods in place of its own; the others keep their `this`, which a class may need. */
function withMethods(log: ToolCallLog, methods: Partial<ToolCallLog>): ToolCallLog {
  const bound = new Map<PropertyKey, unknown>(Object.entries(methods))
  return new Proxy(log, {
    get(target, property) {
      const known = bound.get(property)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      const method: unknown = value.bind(target)
      bound.set(property, method)
      return method
    },
  })
}
