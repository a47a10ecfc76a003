import { runLogConformance } from '@smithers/log-conformance'
import { createPostgresLog, type PostgresPool } from '@smithers/log-postgres'
import pg from 'pg'
import { expect, it } from 'vitest'
import { schemaOf } from './fixtures/create-log.ts'
import { type Mutation, mutantLog } from './fixtures/mutant-log.ts'
import { postgresConformance } from './fixtures/postgres-conformance.ts'
import { serverAddress, urlThrough } from './fixtures/server-address.ts'
import { describeWithServer } from './fixtures/test-database.ts'

/** The groups of the suite; a fault below concerns one. */
const groups = [
  '1 basics',
  '2 ordering',
  '3 identity',
  '4 claims',
  '5 recovery',
  '6 durability',
  '7 multi-process',
  '8 schema',
  '9 prune',
  '10 failure',
  '11 vectors',
  '12 approvals',
  '13 run state',
  '14 approval use',
  '15 runs: create',
  '16 runs: lease',
  '17 runs: take over',
  '18 runs: finish',
  '19 runs: crash',
  '22 connection',
  '23 listed runs',
  '24 version',
  '25 search',
]
/** Tests that start processes, which would open the log without the fault. */
const withProcesses = [
  '4 claims: eight processes that all try a hundred keys make exactly a hundred effects',
  '14 approval use: eight processes that all try fifty approvals run fifty calls',
  '16 runs: lease: four processes that claim fifty runs hold each once',
]

const mutants: readonly (Mutation & { fault: string; group: string; foundBy: string })[] = [
  {
    fault: 'looks for the holder of a key before it inserts, without a unique index',
    without: ['inflight', 'once', 'key'],
    group: '4 claims',
    foundBy: 'eight workers that all try a hundred keys make exactly a hundred effects',
  },
  {
    fault: 'forgets the claim of a call that has succeeded',
    replace: ["other.claim = 'once' AND other.status = 'success'", 'false'],
    without: ['once'],
    group: '4 claims',
    foundBy:
      'a success releases the key of an "inflight" claim and keeps that of a "once" claim for good',
  },
  {
    fault: 'does not look for calls that the caller does not know',
    replace: ["other.effect IS DISTINCT FROM 'none'", 'false'],
    group: '4 claims',
    foundBy: 'a key that a call used which the caller does not know is claimed, until it is known',
  },
  {
    fault: 'lets calls share an approval that start at the same moment',
    without: ['approval'],
    group: '14 approval use',
    foundBy: 'of many starts with one approval at once one is stored',
  },
  {
    fault: 'finishes a call that has ended already',
    replace: ['WHERE call_token = $10 AND finished_at_ms IS NULL', 'WHERE call_token = $10'],
    group: '5 recovery',
    foundBy: 'the finish of a call that was recovered is fenced',
  },
  {
    fault: 'ends a task for a process that has lost the run',
    replace: ['AND lease_token = $2 FOR', 'AND $2::text IS NOT NULL FOR'],
    group: '17 runs: take over',
    foundBy: 'every write of a process that has lost the run is refused and changes nothing',
  },
  {
    fault: 'removes the rows of runs that may go on',
    replace: ['SELECT run_id FROM ', 'SELECT NULL AS run_id FROM '],
    group: '9 prune',
    foundBy: 'a run that waits for approval keeps its rows until it is decided, or named',
  },
]

/** Pools that do what the log leaves to itself, or leave out what it relies on. */
const pools: readonly {
  readonly does: string
  readonly pool: (port: number) => PostgresPool
  readonly foundBy: readonly string[]
}[] = [
  {
    does: 'sends a statement again when its answer is lost, and tells no one',
    pool(port) {
      const connections = poolThrough(port, { query_timeout: 200, connectionTimeoutMillis: 200 })
      return {
        query: (statement) =>
          connections.query(statement).catch(async () => await connections.query(statement)),
      }
    },
    foundBy: [
      'the start of a call whose answer is lost is there once, and no answer denies it',
      'the end of a call whose answer is lost is there once, and no answer denies it',
      'a decision whose answer is lost is there once, and no answer denies it',
    ],
  },
  {
    does: 'waits for an answer for ever',
    pool: (port) => poolThrough(port, {}),
    foundBy: [
      'over a connection that is frozen every method fails in time, and what arrives late is stored once',
    ],
  },
]

function poolThrough(port: number, settings: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionString: urlThrough(port),
    allowExitOnIdle: true,
    ...settings,
  })
  pool.on('error', () => {})
  return pool
}

describeWithServer('runLogConformance', () => {
  it.each(pools)('finds a PostgreSQL log over a pool that $does', async ({ pool, foundBy }) => {
    const reason = 'the fault concerns another group'
    const others = groups.filter((title) => title !== '22 connection')
    const results = await runLogConformance({
      ...postgresConformance,
      network: {
        server: serverAddress(),
        openThrough: (port, location) =>
          createPostgresLog({ pool: pool(port), schema: schemaOf(location), maxWaitMs: 200 }),
        longestWaitMs: 3000,
      },
      skip: others.map((test) => ({ test, reason })),
    })
    const failed = results.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ test }) => test)).toEqual(expect.arrayContaining([...foundBy]))
  })

  it.for(mutants)(
    'finds a PostgreSQL log that $fault',
    async ({ group, foundBy, ...mutation }, { signal }) => {
      const mutant = mutantLog(mutation)
      const reason = 'the fault concerns another group'
      const others = groups.filter((title) => title !== group)
      const processes = withProcesses.filter((test) => test.startsWith(`${group}: `))
      const skip = [...others, ...processes].map((test) => ({ test, reason }))
      const failed = async (): Promise<string[]> => {
        const results = await runLogConformance({ ...postgresConformance, ...mutant, skip })
        return results
          .filter((result) => result.outcome === 'failed' && result.group === group)
          .map(({ test }) => test)
      }
      let found = await failed()
      expect(mutant.changed()).toBeGreaterThan(0)
      // Some show only when statements meet, which a busy machine may keep apart.
      while (!found.includes(foundBy) && !signal.aborted) found = await failed()
      expect(found).toContain(foundBy)
    },
  )
})
