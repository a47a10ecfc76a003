import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ToolCallLog } from '@smithers/tool-core/log'
import type { ConformanceGroup, ConformanceTest, Workbench } from './conformance-group.ts'
import type { LogConformanceOptions } from './conformance-options.ts'
import { approvalUse } from './groups/approval-use.ts'
import { approvals } from './groups/approvals.ts'
import { attempts } from './groups/attempts.ts'
import { basics } from './groups/basics.ts'
import { claims } from './groups/claims.ts'
import { clock } from './groups/clock.ts'
import { connection } from './groups/connection.ts'
import { durability } from './groups/durability.ts'
import { failures } from './groups/failure.ts'
import { identity } from './groups/identity.ts'
import { listedRuns } from './groups/listed-runs.ts'
import { multiProcess } from './groups/multi-process.ts'
import { ordering } from './groups/ordering.ts'
import { prune } from './groups/prune.ts'
import { recovery } from './groups/recovery.ts'
import { createRuns, runLeases, takeOvers } from './groups/run-leases.ts'
import { crashedRuns, finishRuns } from './groups/run-progress.ts'
import { runState } from './groups/run-state.ts'
import { schema } from './groups/schema.ts'
import { searches } from './groups/searches.ts'
import { vectors } from './groups/vectors.ts'
import { versions } from './groups/versions.ts'

const groups: readonly ConformanceGroup[] = [
  basics,
  ordering,
  identity,
  claims,
  recovery,
  durability,
  multiProcess,
  schema,
  prune,
  failures,
  vectors,
  approvals,
  runState,
  approvalUse,
  createRuns,
  runLeases,
  takeOvers,
  finishRuns,
  crashedRuns,
  attempts,
  clock,
  connection,
  listedRuns,
  versions,
  searches,
]

/** One test of the suite, bound to an adapter. */
export interface SuiteTest {
  readonly group: string
  readonly name: string
  /** Why it does not apply; null when it does. */
  readonly skipped: string | null
  readonly run: () => Promise<void>
}

/** The tests for an adapter, in order. Throws when the options contradict themselves. */
export function suiteFor(options: LogConformanceOptions): SuiteTest[] {
  assertConsistent(options)
  return groups.flatMap((group) =>
    group.tests.map((test) => ({
      group: group.title,
      name: test.name,
      skipped: skipReason(group, test, options),
      run: () => runOnWorkbench(test, options),
    })),
  )
}

function assertConsistent(options: LogConformanceOptions): void {
  const { capabilities, processModule, skip = [] } = options
  if ((capabilities.durable || capabilities.multiProcess) && processModule === undefined) {
    throw new TypeError(
      'An adapter that declares durable or multiProcess is tested from other processes: give `processModule`, ' +
        'the URL of a module that exports createLog(location).',
    )
  }
  for (const { test, reason } of skip) {
    const known = groups.some(
      (group) =>
        group.title === test || group.tests.some(({ name }) => `${group.title}: ${name}` === test),
    )
    if (!known) throw new TypeError(`skip names no group and no test: ${JSON.stringify(test)}.`)
    if (reason.trim() === '') throw new TypeError(`skip of ${JSON.stringify(test)} needs a reason.`)
  }
}

function skipReason(
  group: ConformanceGroup,
  test: ConformanceTest,
  options: LogConformanceOptions,
): string | null {
  const asked = options.skip?.find(
    (skip) => skip.test === group.title || skip.test === `${group.title}: ${test.name}`,
  )
  return asked?.reason ?? group.notApplicable?.(options) ?? test.notApplicable?.(options) ?? null
}

async function runOnWorkbench(
  test: ConformanceTest,
  options: LogConformanceOptions,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'log-conformance-'))
  const ownLocation = join(folder, 'log')
  const logs: ToolCallLog[] = []
  const track = (log: ToolCallLog): ToolCallLog => {
    logs.push(log)
    return log
  }
  const workbench: Workbench = {
    options,
    location: ownLocation,
    folder,
    track,
    open: async (location = ownLocation) => track(await options.createLog(location)),
  }
  try {
    await test.run(workbench)
  } finally {
    for (const log of logs) await log.close()
    await rm(folder, { recursive: true, force: true })
  }
}
