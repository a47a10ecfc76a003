import { expect, it } from 'vitest'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

describeWithServer('the version of a log', () => {
  it('differs after the commit of a transaction that had begun before it was asked for', async () => {
    const log = await openLog(newSchema())
    const pool = admin()
    const transaction = await pool.connect()
    try {
      await transaction.query('BEGIN')
      await transaction.query('SELECT pg_current_xact_id()')
      const before = await log.version()
      await transaction.query('COMMIT')
      expect(await log.version()).not.toBe(before)
    } finally {
      transaction.release()
      await log.close()
    }
  })
})
