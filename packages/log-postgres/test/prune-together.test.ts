import pg from 'pg'
import { expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { serverUrl } from './fixtures/create-log.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

describeWithServer('prune, while another process removes calls', () => {
  it('leaves the rows that the other is removing to it, and waits for none', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    const calls = `${schema}._smithers_tool_calls`
    for (const seq of [4, 1, 2, 3]) {
      const row = call({ seq, runId: seq === 4 ? 'archived' : 'run', startedAtMs: seq })
      await log.start(row, { durability: 'relaxed', claim: null })
      await log.finish(row.callToken, { ...succeeded, finishedAtMs: seq })
      if (seq === 4) expect(await log.archive()).toMatchObject({ calls: 1 })
    }

    const other = new pg.Client({ connectionString: serverUrl() })
    await other.connect()
    await other.query(`BEGIN; SELECT 1 FROM ${calls} WHERE seq <= 2 FOR UPDATE;
      SELECT 1 FROM ${schema}._smithers_archived_runs FOR UPDATE`)
    // The control: a statement that does not leave them would wait.
    await expect(admin().query(`SELECT 1 FROM ${calls} FOR UPDATE NOWAIT`)).rejects.toMatchObject({
      code: '55P03',
    })
    const query = { maxRows: 0, runs: ['archived'] }
    expect(await log.prune(query)).toBe(1)
    const left = await log.list({})
    expect(left.map(({ seq }) => seq)).toEqual([1, 2, 4])
    await other.query('ROLLBACK')
    await other.end()
    expect(await log.prune(query)).toBe(3)
    expect(await log.list({})).toEqual([])
    await log.close()
  })
})
