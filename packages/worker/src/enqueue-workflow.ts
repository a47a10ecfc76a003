import { isDeepStrictEqual } from 'node:util'
import { type RunRow, SmithersError } from '@smithers/tool-core'
import type pg from 'pg'
import { assertName, assertRunId } from './job.ts'
import { migrateQueue } from './migrate-queue.ts'
import { queueStatements } from './queue-statements.ts'
import { queueTablesOf } from './queue-tables.ts'

/** Options of {@link enqueueWorkflow}. */
export interface EnqueueWorkflowOptions {
  /**
   * Connections of `pg`, or one client of them: in its transaction, the run is queued exactly when the transaction is
   * committed.
   */
  readonly pool: pg.Pool | pg.ClientBase
  /** The schema of the log. @default 'public' */
  readonly schema?: string
  /** The name under which workers know the workflow: its key in `workflows` of `createWorker`. */
  readonly definition: string
  /** Names the run. The same id makes one run, however often it is queued. */
  readonly runId: string
  /** JSON; checked by the workflow's schema when the run begins. @default {} */
  readonly input?: unknown
  /** Workers of this queue take it. @default 'default' */
  readonly queue?: string
  /** Lower numbers first, −32 768 to 32 767. @default 0 */
  readonly priority?: number
  /** Not before this time. @default now */
  readonly runAt?: Date
}

/** What {@link enqueueWorkflow} found or made. */
export interface EnqueuedRun {
  readonly runId: string
  /** False when the run has finished, or was in the queue already; then nothing has changed. */
  readonly queued: boolean
  readonly status: RunRow['status']
}

/**
 * Queues a run for the workers of a database. A run that is queued, running, waiting or finished stays as it is; one that
 * failed or was stopped goes on where it ended, with new tries. A run that was begun outside the queue is taken into it:
 * workers go on with it once its process has left it and, if it waits for an approval, once that is decided.
 *
 * @throws SmithersError `INVALID_INPUT` for options, and for a known run with another input.
 */
export async function enqueueWorkflow(options: EnqueueWorkflowOptions): Promise<EnqueuedRun> {
  const { pool, schema = 'public', definition, runId, queue = 'default', priority = 0 } = options
  assertName('definition', definition)
  assertName('queue', queue)
  assertRunId(runId)
  assertPriority(priority)
  const inputJson = jsonOf(options.input ?? {})
  const sql = queueStatements(queueTablesOf(schema))
  const recorded = async (): Promise<RunRow['status']> => {
    const { rows } = await pool.query<{ status: RunRow['status']; input_json: string | null }>(
      sql.run,
      [runId],
    )
    const { status = 'queued', input_json: known = null } = rows[0] ?? {}
    if (options.input !== undefined && known !== null) assertSameInput(runId, inputJson, known)
    return status
  }
  await withTables(options, recorded)
  const values = [runId, definition, queue, priority, options.runAt ?? null, inputJson]
  const { rowCount } = await withTables(options, async () => await pool.query(sql.enqueue, values))
  return { runId, queued: (rowCount ?? 0) > 0, status: await recorded() }
}

/** A queue that no worker has used yet has no tables. A client may be in a transaction, which the error has ended. */
async function withTables<T>(
  { pool, schema }: EnqueueWorkflowOptions,
  query: () => Promise<T>,
): Promise<T> {
  try {
    return await query()
  } catch (error) {
    if (!missingStates.has(sqlState(error))) throw error
    if (!isPool(pool)) {
      throw new SmithersError(
        'INVALID_INPUT',
        `The schema "${schema ?? 'public'}" has no queue yet. Call migrateQueue({ pool, schema }) of @smithers/worker once, before the transaction.`,
        { cause: error },
      )
    }
    await migrateQueue({ pool, schema })
    return await query()
  }
}

/** By its shape: the caller's `pg` may be another copy than ours. */
function isPool(pool: pg.Pool | pg.ClientBase): pool is pg.Pool {
  return 'totalCount' in pool
}

/** No such schema, table, function. */
const missingStates: ReadonlySet<string> = new Set(['3F000', '42P01', '42883'])

function sqlState(error: unknown): string {
  return String((error as { readonly code?: unknown } | null)?.code)
}

function jsonOf(input: unknown): string {
  if (isPlain(input)) return JSON.stringify(input)
  throw new SmithersError(
    'INVALID_INPUT',
    'The input must be plain JSON: objects, lists, texts, finite numbers, true, false and null. Anything else would reach the worker as something else.',
  )
}

function isPlain(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (Array.isArray(value)) return value.every(isPlain)
  if (typeof value !== 'object') return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((property) => property === undefined || isPlain(property))
}

function assertSameInput(runId: string, given: string, known: string): void {
  if (isDeepStrictEqual(JSON.parse(given), JSON.parse(known))) return
  throw new SmithersError(
    'INVALID_INPUT',
    `Run "${runId}" began with another input. Leave input out to queue it again, or choose another runId.`,
    { details: { runId } },
  )
}

function assertPriority(priority: number): void {
  if (Number.isInteger(priority) && Math.abs(priority + 0.5) < 2 ** 15) return
  throw new SmithersError(
    'INVALID_INPUT',
    `priority must be an integer from -32768 to 32767, got ${priority}.`,
  )
}
