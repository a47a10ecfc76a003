import type { StartOptions, StartRow } from '@smithers/tool-core/log'
import { startedColumns, startedTypes } from './call-rows.ts'
import type { LogConnection } from './log-connection.ts'
import { storedText } from './stored-text.ts'

/** Whether a row is in the table now; false when something keeps it out. */
export type InsertStarted = (row: StartRow, options: StartOptions) => Promise<boolean>

interface Waiting {
  readonly columns: Readonly<Record<string, unknown>>
  readonly durability: StartOptions['durability']
  readonly resolve: (stored: boolean) => void
  readonly reject: (error: unknown) => void
}

/** Inserts the rows of one turn with one statement and one commit. */
export function insertTogetherOn(connection: LogConnection): InsertStarted {
  const { toolCalls } = connection.tables
  const sql = {
    fsync: insertSql(toolCalls, connection.commitMode(true)),
    relaxed: insertSql(toolCalls, connection.commitMode(false)),
  }
  let waiting: Waiting[] = []

  function insertWaiting(): void {
    const batch = waiting
    waiting = []
    for (const durability of ['fsync', 'relaxed'] as const) {
      const rows = batch.filter((row) => row.durability === durability)
      for (let from = 0; from < rows.length; from += mostRows) {
        void insertAll(rows.slice(from, from + mostRows), sql[durability])
      }
    }
  }

  async function insertAll(batch: readonly Waiting[], text: string): Promise<void> {
    // In one order in every process, so that two that insert the same keys do not wait for each other for good.
    const ordered = batch.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
    try {
      const given = JSON.stringify(ordered.map(({ columns }) => columns))
      const { rows } = await connection.query(text, [given])
      const stored = new Set(rows.map(({ call_token: token }) => token))
      for (const { columns, resolve } of batch) resolve(stored.has(columns['call_token']))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (row, options) =>
    new Promise((resolve, reject) => {
      const known = options.known?.map(storedText) ?? null
      const columns = { ...startedColumns(row, options), known }
      waiting.push({ columns, durability: options.durability, resolve, reject })
      if (waiting.length === 1) queueMicrotask(insertWaiting)
    })
}

function sortKey({ columns }: Waiting): string {
  return `${String(columns['idempotency_key'])} ${String(columns['approval_id'])}`
}

/**
 * Takes the rows as JSON. A key is used by one call at a time, and `key_use` numbers its uses: a call whose statement
 * began before another one took the key and ended has the other's number, and is kept out.
 */
function insertSql(toolCalls: string, commitMode: string): string {
  const types = Object.entries(startedTypes)
  const columns = types.map(([name]) => name).join(', ')
  return `WITH ${commitMode},
    given AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS
      row_of_call (${types.map(([name, type]) => `${name} ${type}`).join(', ')}, known text[]))
    INSERT INTO ${toolCalls} (${columns}, status, key_use)
    SELECT ${columns}, 'started', CASE WHEN claim IS NOT NULL AND idempotency_key IS NOT NULL THEN
      (SELECT coalesce(max(used.key_use), -1) + 1 FROM ${toolCalls} AS used
        WHERE used.idempotency_key = given.idempotency_key) END
    FROM commit_mode, given
    WHERE claim IS NULL OR idempotency_key IS NULL OR NOT EXISTS (
      SELECT 1 FROM ${toolCalls} AS other WHERE other.idempotency_key = given.idempotency_key
        AND other.claim IS NOT NULL AND (other.finished_at_ms IS NULL OR ${isNewsSql('given.known')}))
    ON CONFLICT DO NOTHING RETURNING call_token`
}

/** A call that used the key, that the caller does not know and that did not certainly do nothing. */
export function isNewsSql(known: string): string {
  return `(${known} IS NOT NULL AND other.effect IS DISTINCT FROM 'none' AND other.call_token <> ALL (${known}))`
}

/** Of one statement: few enough that one row does not wait long for the others. */
const mostRows = 200
