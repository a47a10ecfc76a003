import { runLogConformance } from '@smithers/log-conformance'
import type { ConformanceResult, LogConformanceOptions } from '@smithers/log-conformance'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { jsonLinesConformance } from './fixtures/json-lines-conformance.ts'
import { attemptMutants } from './fixtures/mutants/attempt-mutants.ts'
import { createLog as createSingleProcessLog } from './fixtures/mutants/single-process-log.ts'
import { browsingMutants } from './fixtures/mutants/browsing-mutants.ts'
import { memoryMutants } from './fixtures/mutants/memory-mutants.ts'
import { runMutants } from './fixtures/mutants/run-mutants.ts'

const memoryConformance: LogConformanceOptions = {
  name: 'memory',
  capabilities: {
    durable: false,
    multiProcess: false,
    claims: true,
    approvals: true,
    state: true,
    runs: true,
    attempts: true,
    browsing: true,
  },
  createLog: () => createMemoryLog(),
  execArgv: ['--conditions=@smithers/source'],
  schema: { skip: 'rows in memory have no stored schema' },
  failures: { skip: 'memory has no disk' },
}

describe('runLogConformance', () => {
  it('passes the sound log from which the mutants are made', async () => {
    expect(failedTests(await runLogConformance(memoryConformance))).toEqual([])
  })

  it.each([...memoryMutants, ...runMutants, ...attemptMutants, ...browsingMutants])(
    'finds a log that $fault',
    async (mutant) => {
      const results = await runLogConformance({
        ...memoryConformance,
        createLog() {
          const log = createMemoryLog()
          return { ...log, ...mutant.break(log) }
        },
      })
      expect(failedGroups(results)).toEqual(mutant.foundBy)
    },
  )

  it.each([
    ['passes a log whose clock is that of all', steadyNow, []],
    [
      'finds a log that tells the time by the clock of each machine',
      () => Date.now(),
      ['21 clock'],
    ],
    ['finds a log that tells parts of milliseconds', () => steadyNow() + 0.5, ['21 clock']],
  ])('%s', async (_, now, foundBy) => {
    const results = await runLogConformance({
      ...memoryConformance,
      sharesClock: true,
      createLog: sharedMemoryLogs(now),
    })
    expect(failedGroups(results)).toEqual(foundBy)
  })

  it('ends, and finds a log that loses the end of calls', async () => {
    const results = await runLogConformance({
      ...memoryConformance,
      createLog: () => ({ ...createMemoryLog(), finish: () => 'ok' as const }),
    })
    expect(failedGroups(results)).toContain('4 claims')
  })

  it('finds a log that says a call is stored before it is', async () => {
    const results = await runLogConformance({
      ...jsonLinesConformance,
      processModule: new URL('./fixtures/mutants/buffering-log.ts', import.meta.url),
      crashesPerPoint: 4,
      randomCrashes: 4,
    })
    expect(failedGroups(results)).toEqual(['6 durability'])
    expect(failedTests(results).join('\n')).toMatch(/killed after the effect/)
  })

  it('finds a log for one process that claims to be for several', async () => {
    const results = await runLogConformance({
      ...jsonLinesConformance,
      createLog: createSingleProcessLog,
      capabilities: { durable: true, multiProcess: true, claims: true },
      processModule: new URL('./fixtures/mutants/single-process-log.ts', import.meta.url),
      crashesPerPoint: 1,
      randomCrashes: 1,
    })
    expect(failedGroups(results)).toEqual(['4 claims', '7 multi-process'])
  })
})

function steadyNow(): number {
  return Math.floor(performance.timeOrigin + performance.now())
}

/** Openings of one location share their rows. */
function sharedMemoryLogs(now: () => number): LogConformanceOptions['createLog'] {
  const logs = new Map<string, MemoryLog>()
  return (location) => {
    const log = logs.get(location) ?? createMemoryLog()
    logs.set(location, log)
    return { ...log, now, runs: { ...log.runs, now } }
  }
}

function failedTests(results: readonly ConformanceResult[]): string[] {
  return results
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ group, test, error }) => `${group}: ${test}: ${brief(error)}`)
}

/** Long differences say nothing here: the beginning tells which assertion spoke. */
function brief(error: unknown): string {
  return String(error).slice(0, 200)
}

function failedGroups(results: readonly ConformanceResult[]): string[] {
  return [
    ...new Set(results.filter(({ outcome }) => outcome === 'failed').map(({ group }) => group)),
  ]
}
