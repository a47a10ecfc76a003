import type pg from 'pg'
import type { QueueStatements } from './queue-statements.ts'
import type { ResolvedWorker } from './worker-options.ts'
import { unservedDefinitions } from './unserved-definitions.ts'
import type { WorkerPresence } from './worker-presence.ts'

/** The regular search for runs that no worker will find. */
export interface Sweeps {
  /** Ends it, after the search that is under way. */
  stop(): Promise<void>
}

/**
 * Searches the queue every `sweepMs`, and when an approval was decided: graphile-worker gives back the jobs of a dead
 * worker only after hours, and knows no approvals. All workers search; an advisory lock lets one at a time do it.
 */
export function startSweeps(
  worker: ResolvedWorker,
  sql: QueueStatements,
  presence: WorkerPresence,
): Sweeps {
  const { pool, leaseMs, sweepMs, onProblem, schema } = worker
  const stopping = new AbortController()
  const { signal } = stopping
  let wake: (() => void) | undefined
  let wanted = false

  function sweepSoon(): void {
    wanted = true
    wake?.()
  }

  async function pause(): Promise<void> {
    // Workers that began together do not all search in the same moment.
    const pauseMs = sweepMs * (0.75 + Math.random() / 4)
    if (wanted || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    const timer = setTimeout(resolve, pauseMs)
    await promise
    clearTimeout(timer)
    wake = undefined
  }

  const listener = decisionListener(pool, schema, sweepSoon)
  const unserved = unservedDefinitions(worker, sql)
  const done = (async () => {
    while (!signal.aborted) {
      wanted = false
      try {
        await presence.prolong()
        await listener.connect()
        await pool.query(sql.sweep, [leaseMs])
        await pool.query(sql.forget)
        await unserved.look()
      } catch (error) {
        onProblem(
          `The queue could not be searched: ${String(error)}. The next search is in ${sweepMs} ms.`,
        )
      }
      await pause()
    }
    listener.end()
  })()

  return {
    async stop() {
      stopping.abort()
      wake?.()
      await done
    },
  }
}

/** Listens on a connection of its own, and connects again when it has broken. Poolers may drop it: sweeps go on. */
function decisionListener(
  pool: pg.Pool,
  schema: string,
  heard: () => void,
): { connect(): Promise<void>; end(): void } {
  let listening: pg.PoolClient | undefined
  function end(client = listening): void {
    if (client === undefined || client !== listening) return
    listening = undefined
    // The connection still listens, so it does not go back to the pool.
    client.release(true)
  }
  return {
    async connect() {
      if (listening !== undefined) return
      const client = await pool.connect()
      listening = client
      client.on('error', () => end(client))
      client.on('notification', ({ payload }) => {
        if (payload === schema) heard()
      })
      try {
        await client.query('LISTEN _smithers_decisions')
      } catch (error) {
        end(client)
        throw error
      }
    },
    end,
  }
}
