import { setTimeout as sleep } from 'node:timers/promises'
import { namedStatementsOn, type SendNamed } from './named-statements.ts'
import { asLogError, kindOf, unavailable } from './postgres-failure.ts'
import type { OpenPool, PostgresResult, PostgresValue } from './postgres-pool.ts'
import { ServerClock } from './server-clock.ts'
import type { Tables } from './tables.ts'

export interface LogConnectionOptions {
  readonly opened: OpenPool
  readonly tables: Tables
  readonly durability: 'auto' | 'full' | 'relaxed'
  /** Whether statements that are sent often have names. */
  readonly prepare: boolean
  readonly maxWaitMs: number
  /** The version of the schema when it is newer than what this package writes. */
  readonly newerSchema: { readonly found: number; readonly known: number } | undefined
}

/** The database of one log, and the rules under which its methods may use it. */
export interface LogConnection {
  readonly tables: Tables
  readonly clock: ServerClock
  /** Sends one statement, which is a transaction of its own. */
  query(text: string, values?: PostgresValue[]): Promise<PostgresResult>
  /** The same for a statement that is sent often: its plan is kept, whatever the values are. */
  readonly queryNamed: SendNamed
  /** Asks; again when the connection breaks. `action` completes the sentence "could not …" of an error. */
  read<T>(action: string, ask: () => Promise<T>): Promise<T>
  /**
   * Writes; again when the connection breaks or the server takes the statement back.
   *
   * @param commit Is told whether an earlier try may have been committed without an answer. What it answers must then be
   *   the answer that was lost.
   */
  write<T>(action: string, commit: (mayBeStored: boolean) => Promise<T>): Promise<T>
  /** Begins a statement so that its commit waits for the disk, or does not. Named `commit_mode` in the statement. */
  commitMode(matters: boolean): string
  /** Waits for what was begun, then releases the connections. */
  close(): Promise<void>
}

// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function createLogConnection(options: LogConnectionOptions): LogConnection {
  const { opened, tables, durability, prepare, maxWaitMs, newerSchema } = options
  const begun = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  function assertOpen(): void {
    if (closing !== undefined) {
      throw unavailable('closed', 'The tool-call log is closed. Open a new one.')
    }
  }

  function assertWritable(): void {
    if (newerSchema === undefined) return
    throw unavailable(
      'newer-schema',
      `The tool-call log has schema ${newerSchema.found}, written by a newer version of @smithers/log-postgres; ` +
        `this version knows ${newerSchema.known} and can only read it. Update the package to write.`,
    )
  }

  async function untilSettled<T>(
    action: string,
    attempt: (mayBeStored: boolean) => Promise<T>,
  ): Promise<T> {
    const deadline = performance.now() + maxWaitMs
    let mayBeStored = false
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await attempt(mayBeStored)
      } catch (error) {
        const kind = kindOf(error)
        // Random, so that processes that lost the same server do not all come back in step.
        const waitMs = pauseMs * (0.5 + Math.random())
        if (kind === 'final' || performance.now() + waitMs > deadline) {
          throw asLogError(error, action)
        }
        mayBeStored ||= kind === 'connection-lost'
        await sleep(waitMs)
      }
    }
  }

  function track<T>(work: Promise<T>): Promise<T> {
    begun.add(work)
    const forget = (): boolean => begun.delete(work)
    work.then(forget, forget)
    return work
  }

  return {
    tables,
    clock: new ServerClock(opened.pool),

    query: async (text, values) =>
      await opened.pool.query(values === undefined ? { text } : { text, values }),

    queryNamed: namedStatementsOn(opened.pool, prepare),

    async read(action, ask) {
      assertOpen()
      return await track(untilSettled(action, ask))
    },

    async write(action, commit) {
      assertOpen()
      assertWritable()
      return await track(untilSettled(action, commit))
    },

    commitMode(matters) {
      const synced = durability === 'full' || (durability === 'auto' && matters)
      return `commit_mode AS MATERIALIZED (SELECT ${synced ? syncedSql : relaxedSql})`
    },

    close() {
      closing ??= (async () => {
        await Promise.allSettled(begun)
        await opened.end()
      })()
      return closing
    },
  }
}

// Local to the transaction of the statement, so nothing of it stays with the connection. A setting that waits for
// standbys as well is kept.
const syncedSql = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`

const relaxedSql = `set_config('synchronous_commit', 'off', true)`

const firstPauseMs = 10
const longestPauseMs = 250
