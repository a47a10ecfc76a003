import { expect, it } from 'vitest'
import { call, succeeded } from '../../log-sqlite/test/fixtures/call.ts'
import { admin, describeWithServer, newSchema, openLog } from './fixtures/test-database.ts'

const relaxed = { durability: 'relaxed', claim: 'inflight' } as const

async function oneRow<Row>(text: string, values: unknown[] = []): Promise<Row | undefined> {
  return (await admin().query(text, values)).rows[0] as Row | undefined
}

describeWithServer('the schema of the log', () => {
  it('leaves room in pages, is vacuumed early and keeps long texts apart, in partitions too', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    const row = call({ startedAtMs: Date.UTC(2025, 0, 2) })
    await log.start(row, relaxed)
    await log.finish(row.callToken, { ...succeeded, finishedAtMs: row.startedAtMs })
    await log.archive()
    const options = `SELECT reloptions AS options FROM pg_class WHERE oid = to_regclass($1)`
    expect(await oneRow(options, [`${schema}._smithers_tool_calls`])).toEqual({
      options: ['fillfactor=70', 'autovacuum_vacuum_scale_factor=0.02', 'toast_tuple_target=512'],
    })
    const partition = `${schema}._smithers_tool_calls_archive_2025_01`
    const found = await oneRow<{ options: string[] }>(options, [partition])
    expect(found?.options).toContain('toast_tuple_target=512')

    const server = await oneRow<{ lz4: boolean }>(
      `SELECT 'lz4' = ANY (enumvals) AS lz4 FROM pg_settings WHERE name = 'default_toast_compression'`,
    )
    for (const table of [`${schema}._smithers_tool_calls`, partition]) {
      const { rows } = await admin().query(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass($1) AND attcompression = 'l' ORDER BY 1`,
        [table],
      )
      const compressed = ['error_json', 'input_json', 'network_json', 'output_json']
      expect(rows.map(({ name }: { name: string }) => name)).toEqual(
        server?.lz4 === true ? compressed : [],
      )
    }
    const { rows } = await admin().query(
      `SELECT amname AS method, pg_get_indexdef(indexrelid) AS definition FROM pg_index
        JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
        WHERE indrelid = to_regclass($1) ORDER BY 1, 2`,
      [partition],
    )
    const indexes = rows.map(({ method, definition }: { method: string; definition: string }) => [
      method,
      /\((.*?)\)/.exec(definition)?.[1],
    ])
    expect(indexes.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual([
      ['brin', 'started_at_ms'],
      ['btree', 'approval_id'],
      ['btree', 'idempotency_key'],
      ['btree', 'run_id, started_at_ms'],
      ['hash', 'call_token'],
    ])
    await log.close()
  })

  it('does not write a long input again when its call is renewed and finishes, and no index when it is renewed', async () => {
    const schema = newSchema()
    const log = await openLog(schema)
    // No compression makes it small: what is written of it is seen in the table of long values.
    const inputJson = JSON.stringify(
      Array.from({ length: 400 }, (_, index) => Math.sin(index).toString(36)),
    )
    const rows = Array.from({ length: 20 }, (_, index) => call({ seq: index + 1, inputJson }))
    const long = `SELECT reltoastrelid::regclass::text AS name FROM pg_class WHERE oid = to_regclass($1)`
    const toast = await oneRow<{ name: string }>(long, [`${schema}._smithers_tool_calls`])
    const written = async (): Promise<number> =>
      Number((await oneRow<{ n: string }>(`SELECT count(*) AS n FROM ${toast?.name}`))?.n)
    for (const row of rows) await log.start(row, relaxed)
    const before = await written()
    expect(before).toBeGreaterThanOrEqual(rows.length)

    const client = await admin().connect()
    const stats = async (): Promise<{ updated: number; hot: number }> => {
      const found = await client.query(
        `SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_xact_all_tables
          WHERE relid = to_regclass($1)`,
        [`${schema}._smithers_tool_calls`],
      )
      return found.rows[0] as { updated: number; hot: number }
    }
    // What the log sends when a lease is renewed, in a transaction whose counters can be read.
    await client.query('BEGIN')
    await client.query(`UPDATE ${schema}._smithers_tool_calls SET lease_expires_at_ms = 1`)
    expect(await stats()).toMatchObject({ updated: rows.length, hot: rows.length })
    await client.query('COMMIT')
    client.release()

    for (const row of rows) expect(await log.renew(row.callToken, 9e15)).toBe(true)
    for (const row of rows) expect(await log.finish(row.callToken, succeeded)).toBe('ok')
    expect(await written()).toBe(before)
    expect((await log.list({ limit: 1 }))[0]).toMatchObject({ inputJson, status: 'success' })
    await log.close()
  })
})
