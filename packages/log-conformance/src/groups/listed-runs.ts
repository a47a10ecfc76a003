import assert from 'node:assert/strict'
import { outcomeUnknown } from '@smithers/tool-core/log'
import type { LoggedRun, LoggedRunCursor, ToolCallLog } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { failure, mustFinish, mustStart, sampleTimeMs, success } from '../sample-row.ts'
import { runClaim } from '../sample-run.ts'
import { browsable, type Browsable, withoutBrowsing } from './browsable.ts'

export const listedRuns: ConformanceGroup = {
  title: '23 listed runs',
  notApplicable: withoutBrowsing,
  tests: [
    {
      name: 'a run has the counts of its calls, and its errors by code and effect',
      async run({ open }) {
        const log = await browsable(open)
        await variedCalls(log)
        assert.deepEqual(await log.listRuns({ runId: 'run-1' }), [
          {
            runId: 'run-1',
            activityMs: sampleTimeMs + 6,
            workflow: null,
            status: null,
            errorJson: null,
            startedAtMs: sampleTimeMs + 1,
            finishedAtMs: null,
            lastCallAtMs: sampleTimeMs + 6,
            calls: 6,
            running: 1,
            unknown: 1,
            failed: 3,
            errors: [
              { code: 'TOOL_PATH_ESCAPE', effect: 'none', count: 2 },
              { code: null, effect: 'unknown', count: 1 },
            ],
          } satisfies LoggedRun,
        ])
        assert.deepEqual(await log.listRuns({ runId: 'none' }), [])
      },
    },
    {
      name: 'runs with calls and recorded runs without any are listed by their last sign of life, and pages hold each once',
      async run({ open }) {
        const log = await browsable(open)
        // Interleaved, so that the newest calls are not those of one run.
        for (let index = 0; index < 12; index += 1) {
          const at = { runId: `calls-${index % 4}`, seq: index + 1 }
          await mustFinish(log, { ...at, startedAtMs: sampleTimeMs + 10 * index })
        }
        const recorded = log.runs === undefined ? [] : [45, 85, 200]
        for (const atMs of recorded) {
          await log.runs?.claim(runClaim({ runId: `recorded-${atMs}`, nowMs: sampleTimeMs + atMs }))
        }
        const expected = [
          ...(log.runs === undefined ? [] : ['recorded-200']),
          'calls-3',
          'calls-2',
          'calls-1',
          ...(log.runs === undefined ? [] : ['recorded-85']),
          'calls-0',
          ...(log.runs === undefined ? [] : ['recorded-45']),
        ]
        assert.deepEqual(idsOf(await log.listRuns({})), expected)
        assert.deepEqual(await idsByPages(log, 2), expected)
      },
    },
    {
      name: 'runs of the same moment are on one page each',
      async run({ open }) {
        const log = await browsable(open)
        for (let index = 0; index < 7; index += 1) await mustStart(log, { runId: `run-${index}` })
        const expected = ['run-6', 'run-5', 'run-4', 'run-3', 'run-2', 'run-1', 'run-0']
        assert.deepEqual(await idsByPages(log, 3), expected)
      },
    },
    {
      name: 'a recorded run with calls is listed once, with its name and status',
      notApplicable: ({ capabilities }) =>
        capabilities.runs === true ? null : 'the adapter does not declare runs',
      async run({ open }) {
        const log = await browsable(open)
        const claim = runClaim({ nowMs: sampleTimeMs - 3 })
        await log.runs?.claim(claim)
        await log.runs?.nameWorkflow('run-1', claim.leaseToken, 'pay')
        await mustFinish(log)
        const [run, ...others] = await log.listRuns({})
        assert.deepEqual(others, [])
        assert.equal(run?.workflow, 'pay')
        assert.equal(run?.status, 'running')
        assert.equal(run?.startedAtMs, sampleTimeMs - 3)
        assert.equal(run?.lastCallAtMs, sampleTimeMs)
      },
    },
  ],
}

async function variedCalls(log: ToolCallLog): Promise<void> {
  const start = async (seq: number): Promise<string> =>
    await mustStart(log, { seq, startedAtMs: sampleTimeMs + seq })
  await start(1)
  const lost = await start(2)
  await log.finish(lost, outcomeUnknown(sampleTimeMs + 9))
  for (const seq of [3, 4]) {
    const errorJson = `{"name":"SmithersError","code":"TOOL_PATH_ESCAPE","message":"no. ${seq}"}`
    await log.finish(await start(seq), failure({ errorJson }))
  }
  // It speaks of an unknown outcome, but the record of its own end is there.
  const errorJson = '{"name":"Error","message":"","cause":{"code":"TOOL_OUTCOME_UNKNOWN"}}'
  await log.finish(await start(5), failure({ errorJson, effect: 'unknown' }))
  await log.finish(await start(6), success())
  await mustStart(log, { runId: 'run-2', startedAtMs: sampleTimeMs + 7 })
}

async function idsByPages(log: Browsable, limit: number): Promise<string[]> {
  const ids: string[] = []
  let after: LoggedRunCursor | undefined
  for (let page = 0; page < 20; page += 1) {
    const runs = await log.listRuns({ limit, ...(after !== undefined && { after }) })
    ids.push(...idsOf(runs))
    after = runs.at(-1)
    if (runs.length < limit) return ids
  }
  throw new Error('the pages do not end')
}

function idsOf(runs: readonly LoggedRun[]): string[] {
  return runs.map(({ runId }) => runId)
}
