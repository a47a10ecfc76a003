import type { PostgresPool } from '@smithers/log-postgres'
import { createPostgresLog } from '@smithers/log-postgres'
import { nowOf } from '@smithers/tool-core/log'
import { afterEach, expect, it, vi } from 'vitest'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const hourMs = 3_600_000

/** The database, and how often its clock was asked for. */
function counted(): PostgresPool & { asked: number } {
  const pool = {
    asked: 0,
    async query(statement: Parameters<PostgresPool['query']>[0]) {
      if (statement.text.includes('clock_timestamp')) pool.asked += 1
      return await admin().query(statement)
    },
  }
  return pool
}

describeWithServer('the clock of the log', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('is that of the server, on a machine whose clock is an hour ahead or behind', async () => {
    const { rows } = await admin().query(
      'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms',
    )
    const serverMs = Number(rows[0].ms)
    const wall = Date.now
    for (const skewMs of [hourMs, -hourMs]) {
      vi.spyOn(Date, 'now').mockImplementation(() => wall() + skewMs)
      const log = await openLog(newSchema())
      // The test itself takes some of the minute.
      expect(Math.abs(log.now() - serverMs)).toBeLessThan(60_000)
      expect(nowOf(log.runs)).toBeGreaterThanOrEqual(serverMs)
      await log.close()
    }
  })

  it('does not follow when the clock of the machine is set, and asks the server again', async () => {
    const pool = counted()
    const log = await createPostgresLog({ pool, schema: newSchema() })
    const before = log.now()
    const [wall, steady] = [Date.now, performance.now.bind(performance)]
    vi.spyOn(Date, 'now').mockImplementation(() => wall() + hourMs)
    vi.spyOn(performance, 'now').mockImplementation(() => steady() + 2000)
    const asked = pool.asked
    expect(log.now() - before).toBeLessThan(60_000)
    await expect.poll(() => pool.asked).toBe(asked + 3)
    expect(log.now() - before).toBeLessThan(60_000)
  })

  it('is asked of the server after a minute, and not by each call', async () => {
    const pool = counted()
    const log = await createPostgresLog({ pool, schema: newSchema() })
    const asked = pool.asked
    for (let count = 0; count < 100; count += 1) log.now()
    expect(pool.asked).toBe(asked)
    const [wall, steady] = [Date.now, performance.now.bind(performance)]
    vi.spyOn(Date, 'now').mockImplementation(() => wall() + 61_000)
    vi.spyOn(performance, 'now').mockImplementation(() => steady() + 61_000)
    log.now()
    await expect.poll(() => pool.asked).toBe(asked + 3)
  })

  it('never goes back', async () => {
    const log = await openLog(newSchema())
    const steady = performance.now.bind(performance)
    const before = log.now()
    vi.spyOn(performance, 'now').mockImplementation(() => steady() - hourMs)
    expect(log.now()).toBe(before)
    await log.close()
  })
})
