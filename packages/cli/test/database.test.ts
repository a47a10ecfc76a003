import { jsonOutput } from '@smithers/cli'
import { createPostgresLog } from '@smithers/log-postgres'
import { createToolRun, defineTool } from '@smithers/tool-core'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

const missing = process.env['SMITHERS_TEST_POSTGRES_MISSING']
const reason = missing === undefined ? '' : ` (no PostgreSQL server: ${missing})`
const connectionString = process.env['SMITHERS_TEST_POSTGRES'] ?? ''
const dayMs = 86_400_000

/** A log in a schema of its own, with a call of today and one of forty days ago. */
async function openLog(schema: string) {
  const log = await createPostgresLog({ connectionString, schema })
  const pool = new pg.Pool({ connectionString, max: 1 })
  onTestFinished(async () => {
    await log.close()
    await pool.end()
  })
  const read = defineTool({ name: 'read', schema: z.object({}), execute: () => 'text' })
  for (const runId of ['old', 'new']) {
    const { execute } = createToolRun({ runId, log }).tools({ read }).read
    await execute({}, { toolCallId: 'c', messages: [] })
  }
  await pool.query(
    `UPDATE "${schema}"._smithers_tool_calls SET started_at_ms = started_at_ms - $1,
      finished_at_ms = finished_at_ms - $1 WHERE run_id = 'old'`,
    [40 * dayMs],
  )
  const env = { SMITHERS_LOG: connectionString }
  const db = (...args: readonly string[]) =>
    runSmithers(['db', ...args, '--schema', schema], { cwd: temporaryFolder(), env })
  const document = async (...args: readonly string[]): Promise<unknown> => {
    const { stdout } = await db(...args, '--json')
    const printed = JSON.parse(stdout) as unknown
    expect(jsonOutput.parse(printed)).toEqual(printed)
    return printed
  }
  const runs = async (): Promise<string[]> => {
    const rows = await log.list({})
    return rows.map(({ runId }) => runId).toSorted()
  }
  return { db, document, runs }
}

describe.skipIf(missing !== undefined)(`smithers db${reason}`, () => {
  test('prune removes what is older, and with --dry-run only counts it', async () => {
    const { db, document, runs } = await openLog('cli_prune')
    expect(await document('prune', '--keep-days', '30', '--dry-run')).toMatchObject({
      type: 'prune',
      calls: 1,
      dryRun: true,
    })
    expect(await runs()).toEqual(['new', 'old'])
    const { exitCode, stdout } = await db('prune', '--keep-days', '30')
    expect([exitCode, stdout]).toEqual([0, 'Removed 1 call and 0 workflow runs.\n'])
    expect(await runs()).toEqual(['new'])
    expect(await document('prune', '--before', '2020-01-31T12:00Z')).toMatchObject({ calls: 0 })
    expect(await runs()).toEqual(['new'])
  })

  test('archive moves a run out of the way, and drop-archived removes its month', async () => {
    const { db, document, runs } = await openLog('cli_archive')
    expect(await document('archive', '--keep-days', '60')).toMatchObject({ runs: 0, calls: 0 })
    const archived = { type: 'archive', runs: 1, calls: 1, isBusy: false }
    expect(await document('archive')).toEqual(archived)
    // It is listed as before.
    expect(await runs()).toEqual(['new', 'old'])
    const dropped = await document('drop-archived', '--keep-days', '1')
    expect(dropped).toMatchObject({ partitions: [expect.stringContaining('archive')] })
    expect(await runs()).toEqual(['new'])
    const { stdout } = await db('drop-archived', '--before', '2020-01-01')
    expect(stdout).toBe('Removed 0 months of the archive and what was left of 0 runs.\n')
  })

  test.for<[string, string[], string]>([
    ['prune without a condition', ['prune'], 'Say what to remove'],
    ['drop-archived without a condition', ['drop-archived'], 'Say what to remove'],
    ['an unknown time', ['prune', '--before', 'soon'], 'such as 2026-01-31'],
    ['two times', ['prune', '--before', '2026-01-31', '--keep-days', '1'], 'not both'],
    ['an archive of the future', ['archive', '--before', '2999-01-01'], 'at least a minute ago'],
  ])('refuses %s, and removes nothing', async ([, args, message]) => {
    const { db, runs } = await openLog('cli_refused')
    const before = await runs()
    const { exitCode, stderr } = await db(...args)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(await runs()).toEqual(before)
  })
})

describe('smithers db', () => {
  test.for(['prune', 'archive', 'drop-archived'])(
    '%s refuses a log that is a file',
    async (name) => {
      const args = ['db', name, '--keep-days', '1', '--log', 'calls.db']
      const { exitCode, stderr } = await runSmithers(args, { cwd: temporaryFolder() })
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--log postgres://')])
    },
  )

  test('completes its commands and their options', async () => {
    const commands = await runSmithers(['complete', '--', 'db', 'dr'])
    expect(commands.stdout).toMatch(/^drop-archived\b/m)
    const options = await runSmithers(['complete', '--', 'db', 'prune', '--dry'])
    expect(options.stdout).toMatch(/^--dry-run\b/m)
  })
})
