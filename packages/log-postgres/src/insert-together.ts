import type { StartOptions, StartRow } from '@smithers/tool-core/log'
import { startedColumns, startedTypes } from './call-rows.ts'
import type { LogConnection } from './log-connection.ts'
import { mayRefuseOneRow } from './postgres-failure.ts'
import { storedText } from './stored-text.ts'
import type { Tables } from './tables.ts'

/** Whether a row is in the table now; false when something keeps it out. */
export type InsertStarted = (row: StartRow, options: StartOptions) => Promise<boolean>

interface Waiting {
  readonly columns: Readonly<Record<string, unknown>>
  readonly durability: StartOptions['durability']
  readonly resolve: (stored: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Inserts the rows of one turn with one statement and one commit, and those that come while a few statements have no
 * answer with the next one. A row that the server refuses fails alone.
 */
export function insertTogetherOn(connection: LogConnection): InsertStarted {
  const { tables } = connection
  const sql = {
    fsync: insertSql(tables, connection.commitMode(true)),
    relaxed: insertSql(tables, connection.commitMode(false)),
  }
  let waiting: Waiting[] = []
  /** Statements without an answer. */
  let unanswered = 0

  function insertWaiting(): void {
    while (waiting.length > 0 && unanswered < mostStatements) {
      const durability = waiting[0]?.durability
      const batch = waiting.filter((row) => row.durability === durability).slice(0, mostRows)
      const taken = new Set(batch)
      waiting = waiting.filter((row) => !taken.has(row))
      unanswered += 1
      // In one order in every process, so that two that insert the same keys do not wait for each other for good.
      const ordered = batch.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
      void insertAll(ordered, sql[durability ?? 'fsync']).then(() => {
        unanswered -= 1
        insertWaiting()
      })
    }
  }

  async function insertAll(batch: readonly Waiting[], text: string): Promise<void> {
    try {
      const given = JSON.stringify(batch.map(({ columns }) => columns))
      const { rows } = await connection.queryNamed(text, [given])
      const stored = new Set(rows.map(({ call_token: token }) => token))
      for (const { columns, resolve } of batch) resolve(stored.has(columns['call_token']))
    } catch (error) {
      if (batch.length > 1 && mayRefuseOneRow(error)) {
        // The refused statement has stored nothing. Halves find one row among 200 with 16 more.
        const middle = Math.ceil(batch.length / 2)
        await insertAll(batch.slice(0, middle), text)
        await insertAll(batch.slice(middle), text)
        return
      }
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
 * began before another one took the key and ended has the other's number, and is kept out. A key that an archived call
 * used is taken as well, and a run that is archived takes no call. Every month of the archive is asked for the key, so a
 * call without a claim has none to ask for: a condition beside the key would cost as much as the look, in each month.
 *
 * The newest attempts of the tasks are locked until the commit, which is before the next attempt can begin: so a row of an
 * attempt is there when the next one looks, or never. A plain look would see what was true when the statement began.
 */
function insertSql(tables: Tables, commitMode: string): string {
  const { toolCalls, allCalls, archivedRuns, begunAttempts } = tables
  const types = Object.entries(startedTypes)
  const columns = types.map(([name]) => name).join(', ')
  return `WITH ${commitMode},
    given AS MATERIALIZED (
      SELECT *, CASE WHEN claim IS NOT NULL THEN idempotency_key END AS claimed_key FROM json_to_recordset($1::json) AS
      row_of_call (${types.map(([name, type]) => `${name} ${type}`).join(', ')}, known text[])),
    begun AS MATERIALIZED (
      SELECT newest.run_id, newest.node_id, newest.iteration, newest.attempt FROM ${begunAttempts} AS newest
        JOIN (SELECT DISTINCT run_id, node_id, iteration FROM given) AS task
          ON newest.run_id = task.run_id AND newest.node_id = task.node_id AND newest.iteration = task.iteration
      ORDER BY newest.run_id, newest.node_id, newest.iteration FOR SHARE OF newest)
    INSERT INTO ${toolCalls} (${columns}, status, key_use)
    SELECT ${columns}, 'started', uses.next FROM commit_mode, given, LATERAL (
      SELECT CASE WHEN given.claim IS NOT NULL AND given.idempotency_key IS NOT NULL
          THEN coalesce(max(other.key_use), -1) + 1 END AS next,
        coalesce(bool_or(other.claim IS NOT NULL
          AND (other.finished_at_ms IS NULL OR ${isNewsSql('given.known')}
            OR (other.claim = 'once' AND other.status = 'success' AND given.claim = 'once'))), false) AS keeps_out
      FROM ${allCalls} AS other
      WHERE other.idempotency_key = given.claimed_key) AS uses
    WHERE NOT uses.keeps_out AND NOT EXISTS (SELECT 1 FROM ${archivedRuns} WHERE run_id = given.run_id)
      AND NOT EXISTS (
        SELECT 1 FROM begun WHERE begun.run_id = given.run_id AND begun.node_id = given.node_id
          AND begun.iteration = given.iteration AND begun.attempt > given.attempt)
    ON CONFLICT DO NOTHING RETURNING call_token`
}

/** A call that used the key, that the caller does not know and that did not certainly do nothing. */
export function isNewsSql(known: string): string {
  return `(${known} IS NOT NULL AND other.effect IS DISTINCT FROM 'none' AND other.call_token <> ALL (${known}))`
}

/** At once. A disk syncs for all that wait for it, so more statements than these cost more and are no sooner done. */
const mostStatements = 4

/** Of one statement: few enough that one row does not wait long for the others. */
const mostRows = 200
