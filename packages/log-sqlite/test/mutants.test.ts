import { runLogConformance } from '@smithers/log-conformance'
import type { LogConformanceOptions } from '@smithers/log-conformance'
import { createSqliteLog } from '@smithers/log-sqlite'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createLog as createForgetfulLog } from './fixtures/mutants/forgetful-log.ts'
import { createLog as createForgetfulRunsLog } from './fixtures/mutants/forgetful-runs-log.ts'
import { createLog as createOverwritingLog } from './fixtures/mutants/overwriting-log.ts'
import { createLog as createUnclaimedLog } from './fixtures/mutants/unclaimed-log.ts'
import { sqliteConformance } from './fixtures/sqlite-conformance.ts'

/** The groups that take long, of which a fault concerns at most one. */
const longGroups = ['4 claims', '6 durability', '7 multi-process']

function conformanceFor(group: string): LogConformanceOptions {
  const others = longGroups.filter((title) => title !== group)
  const reason = 'the fault concerns another group'
  return { ...sqliteConformance, skip: others.map((test) => ({ test, reason })) }
}

const mutants: readonly (Pick<LogConformanceOptions, 'createLog'> & {
  fault: string
  group: string
  module: string
  foundBy: readonly string[]
})[] = [
  {
    fault: 'looks for the holder of a key before it inserts, without a unique index',
    createLog: createUnclaimedLog,
    module: 'unclaimed-log.ts',
    group: '4 claims',
    foundBy: [
      '4 claims: eight workers that all try a hundred keys make exactly a hundred effects',
      '4 claims: eight processes that all try a hundred keys make exactly a hundred effects',
    ],
  },
  {
    fault: 'forgets the rows of the documented table',
    createLog: createForgetfulLog,
    module: 'forgetful-log.ts',
    group: '8 schema',
    foundBy: [
      '8 schema: the documented twelve-column table is opened, keeps its rows and takes new ones',
      '8 schema: pages by cursor hold every old row once',
      '8 schema: processes that migrate the same storage at the same moment all succeed',
    ],
  },
  {
    fault: 'keeps runs in the memory of the process',
    createLog: createForgetfulRunsLog,
    module: 'forgetful-runs-log.ts',
    group: '19 runs: crash',
    foundBy: [
      '16 runs: lease: of many that claim a run at once one holds it',
      '16 runs: lease: four processes that claim fifty runs hold each once',
      '18 runs: finish: prune removes finished runs whole, and open runs only when they are named',
      '19 runs: crash: runs are there when the log is opened again',
      '19 runs: crash: a killed process loses no finished task, and its run can be taken over at once',
      '20 attempts: prune forgets what began with its run, and not that of an open run',
      '23 listed runs: runs with calls and recorded runs without any are listed by their last sign of life, and pages hold each once',
      '23 listed runs: a recorded run with calls is listed once, with its name and status',
      '24 version: the version differs after each change, and stays the same while nothing changes',
    ],
  },
  {
    fault: 'writes to storage that a newer version has shaped',
    createLog: createOverwritingLog,
    module: 'overwriting-log.ts',
    group: '8 schema',
    foundBy: [
      '8 schema: storage that a newer version has shaped can be listed, refuses every write and is not changed',
    ],
  },
]

describe('runLogConformance', () => {
  it.each(mutants)(
    'finds a SQLite log that $fault',
    async ({ createLog, module, group, foundBy }) => {
      const processModule = new URL(`./fixtures/mutants/${module}`, import.meta.url)
      expect(await failedTests({ ...conformanceFor(group), createLog, processModule })).toEqual(
        foundBy,
      )
    },
  )

  it('finds a log that says a call is stored although the disk is full or the file read-only', async () => {
    const failures: LogConformanceOptions['failures'] = {
      openReadOnly: (location) => boast(new Database(location, { readonly: true })),
      openFull(location) {
        const database = new Database(location)
        const log = boast(database)
        database.pragma(
          `max_page_count = ${String(database.pragma('page_count', { simple: true }))}`,
        )
        return log
      },
    }
    expect(await failedTests({ ...conformanceFor('10 failure'), failures })).toEqual([
      '10 failure: a log that cannot be written refuses the start with TOOL_LOG_UNAVAILABLE and can still be listed',
      '10 failure: a log without room refuses the start with TOOL_LOG_UNAVAILABLE and can still be listed',
    ])
  })
})

function boast(database: Database.Database): ReturnType<typeof createSqliteLog> {
  const log = createSqliteLog({ database })
  return {
    ...log,
    start(row, options) {
      try {
        return log.start(row, options)
      } catch {
        return { ok: true }
      }
    },
  }
}

async function failedTests(options: LogConformanceOptions): Promise<string[]> {
  const results = await runLogConformance(options)
  return results
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ group, test }) => `${group}: ${test}`)
}
