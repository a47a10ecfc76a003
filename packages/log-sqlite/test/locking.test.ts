import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSqliteLog } from '@smithers/log-sqlite'
import type { SqliteDatabase, SqliteLogSettings } from '@smithers/log-sqlite'
import type { StartOptions, ToolCallLog } from '@smithers/tool-core/log'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { call, succeeded } from './fixtures/call.ts'

const relaxed: StartOptions = { durability: 'relaxed', claim: null }
const fsync: StartOptions = { durability: 'fsync', claim: 'inflight' }

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sqlite-log-'))
  path = join(folder, 'log.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('createSqliteLog', () => {
  it('answers every method at once while the lock is free', async () => {
    const log = createSqliteLog({ path })
    const { callToken } = call()
    const row = call({ callToken })
    expect(log.start(row, fsync)).toEqual({ ok: true })
    expect(log.renew(callToken, 5)).toBe(true)
    expect(log.list({ callToken })).toHaveLength(1)
    expect(log.finish(callToken, succeeded)).toBe('ok')
    expect(log.recover({ nowMs: 0 })).toBe(0)
    expect(log.prune({ maxRows: 0 })).toBe(1)
    expect(await log.close()).toBeUndefined()
  })

  it('waits for a lock with a promise, while the event loop turns, and then commits', async () => {
    const log = createSqliteLog({ path })
    const other = holdLock()
    const started = log.start(call(), relaxed)
    expect(started).toBeInstanceOf(Promise)
    await sleep(0)
    expect(log.list({})).toEqual([])
    other.exec('COMMIT')
    other.close()
    expect(await started).toEqual({ ok: true })
    expect(log.list({})).toHaveLength(1)
    await log.close()
  })

  it('blocks the event loop for no call, however many meet a locked file', async () => {
    const blockedMs = async (log: ToolCallLog): Promise<number> => {
      const other = holdLock()
      const before = performance.now()
      const started = Array.from({ length: 10 }, async (_, seq) =>
        log.start(call({ seq: seq + 1 }), relaxed),
      )
      const blocked = performance.now() - before
      other.exec('COMMIT')
      other.close()
      expect(await Promise.all(started)).toEqual(started.map(() => ({ ok: true })))
      await log.close()
      return blocked
    }
    // The shortest of some: a busy machine may take the processor away meanwhile.
    let waitless = Infinity
    for (let tries = 0; tries < 5; tries += 1) {
      waitless = Math.min(waitless, await blockedMs(createSqliteLog({ path })))
      rmSync(path)
    }
    // The control: SQLite itself waits for the lock, as long as its connection says.
    const database = new Database(path)
    const patient = createSqliteLog({ database })
    database.pragma('busy_timeout = 50')
    const control = await blockedMs(patient)
    database.close()
    expect(waitless).toBeLessThan(control / 4)
  })

  it('gives up with TOOL_LOG_UNAVAILABLE when the lock is held for longer than maxWaitMs', async () => {
    const log = createSqliteLog({ path, maxWaitMs: 100 })
    const other = holdLock()
    await expect(log.start(call(), fsync)).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      details: { reason: 'busy' },
    })
    other.exec('COMMIT')
    other.close()
    expect(log.list({})).toEqual([])
    await log.close()
  })

  it('finishes the writes that wait before it closes, and takes no new ones', async () => {
    const log = createSqliteLog({ path })
    const other = holdLock()
    const started = log.start(call(), relaxed)
    const closed = log.close()
    expect(() => log.start(call({ seq: 2 }), relaxed)).toThrow('closed')
    other.exec('COMMIT')
    await closed
    expect(await started).toEqual({ ok: true })
    expect(other.prepare('SELECT seq FROM _smithers_tool_calls').all()).toEqual([{ seq: 1 }])
    other.close()
  })

  it('refuses to write inside a transaction that other code has opened on its connection', () => {
    const database = new Database(path)
    const log = createSqliteLog({ database })
    database.exec('BEGIN')
    expect(() => log.start(call(), fsync)).toThrow('transaction')
    database.exec('ROLLBACK')
    expect(log.start(call(), fsync)).toEqual({ ok: true })
    database.close()
  })

  const modes: [NonNullable<SqliteLogSettings['durability']>, number[]][] = [
    ['auto', [2, 1, 1]],
    ['full', [2, 2, 2]],
    ['relaxed', [1, 1, 1]],
  ]
  it.each(modes)(
    'in the mode %s commits an fsync start, a relaxed start and a finish with synchronous = %j',
    async (durability, levels) => {
      const { database, seen } = observed(new Database(path))
      const log = createSqliteLog({ database, durability })
      const first = call({ seq: 1 })
      await log.start(first, fsync)
      await log.start(call({ seq: 2 }), relaxed)
      await log.finish(first.callToken, succeeded)
      expect(seen.writes).toEqual(levels)
      expect(seen.prepared.filter((sql) => /synchronous\s*=/i.test(sql))).toEqual([])
    },
  )

  it('commits relaxed again after an fsync start that failed', async () => {
    const { database, seen } = observed(new Database(path))
    const log = createSqliteLog({ database })
    const row = call()
    await log.start(row, fsync)
    expect(() => log.start({ ...row, seq: 2 }, fsync)).toThrow('callToken')
    await log.finish(row.callToken, succeeded)
    expect(seen.writes.at(-1)).toBe(1)
  })
})

/** Another process, as far as SQLite can tell: a connection that holds the write lock. */
function holdLock(): Database.Database {
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  return other
}

/** A connection that notes which texts are prepared, and the `synchronous` level at each write of a row. */
function observed(real: Database.Database): {
  database: SqliteDatabase
  seen: { prepared: string[]; writes: number[] }
} {
  const seen = { prepared: [] as string[], writes: [] as number[] }
  const database: SqliteDatabase = {
    exec: (sql) => real.exec(sql),
    close: () => real.close(),
    get inTransaction() {
      return real.inTransaction
    },
    prepare(sql) {
      seen.prepared.push(sql)
      const statement = real.prepare(sql)
      return {
        run(...values) {
          seen.writes.push(real.pragma('synchronous', { simple: true }) as number)
          return statement.run(...values)
        },
        get: (...values) => statement.get(...values),
        all: (...values) => statement.all(...values),
      }
    },
  }
  return { database, seen }
}
